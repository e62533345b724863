"""The right to ask: of two runs that want an answer to the same request, one asks and the other waits for it.

A lease covers single requests, whatever the shards they come in: each request key is one byte of a lock file, at an offset made of
the key's first 60 bits. Byte-range locks that belong to the open file (Linux's OFD locks) hold between threads as between
processes, and the kernel drops them when a process dies. Where the system has none, shards with equal keys exclude each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import struct
from collections.abc import Iterable, Iterator
from typing import IO

from leaderflow.core.identity import sha256_hex
from leaderflow.core.store import Store

log = logging.getLogger("leaderflow.answers")

HEX_DIGITS = 15


@contextlib.contextmanager
def lease(store: Store, name: str, keys: Iterable[str]) -> Iterator[None]:
    """Hold the lease of request keys (hex digests) below a name; waits while somebody else holds one of them.

    Raises:
        StoreError: the file system refuses.
    """
    keys = sorted(keys)
    if not hasattr(fcntl, "F_OFD_SETLKW"):
        with store.lease(sha256_hex(name + "".join(keys))[:32]):
            yield
        return
    with store.lease_file(f"{name}.keys") as file:
        for offset in sorted({int(key[:HEX_DIGITS], 16) for key in keys}):  # in one order everywhere, so nobody waits in a circle
            _lock(file, offset)
        yield


def _lock(file: IO[bytes], offset: int) -> None:
    byte = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, byte)
    except BlockingIOError:
        log.info("another run is asking some of these requests; waiting for its answers")
        fcntl.fcntl(file, fcntl.F_OFD_SETLKW, byte)
