"""Leases of a local store: the right to do what two processes must not do at once, held on files below ``leases/``.

A lease of keys covers single requests, whatever the shards they come in: each key is one byte of a lock file, at an offset made of
the key's first 60 bits. Byte-range locks that belong to the open file (Linux's OFD locks) hold between threads as between
processes, and the kernel drops them when a process dies. Where the system has none, equal sets of keys exclude each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from leaderflow.core.errors import StoreError
from leaderflow.core.identity import sha256_hex

log = logging.getLogger("leaderflow.answers")

HEX_DIGITS = 15


@contextlib.contextmanager
def local_lease(folder: Path, name: str, keys: Iterable[str] | None = None) -> Iterator[None]:
    """Hold the lease of a name, or of some keys (hex digests) below it; waits while somebody else holds it or one of them.

    Args:
        folder: where the lock files lie.
        name: what the lease is of.
        keys: only these; None for the name as a whole.

    Raises:
        StoreError: the file system refuses.
    """
    wanted = None if keys is None else sorted(keys)
    if wanted is None or not hasattr(fcntl, "F_OFD_SETLKW"):
        whole = name if wanted is None else sha256_hex(name + "".join(wanted))[:32]
        with _open(folder / f"{whole}.lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with _open(folder / f"{name}.keys") as file:
        for offset in sorted({int(key[:HEX_DIGITS], 16) for key in wanted}):  # in one order everywhere, so nobody waits in a circle
            _lock(file, offset)
        yield


def local_leased(folder: Path, name: str) -> bool:
    """Say whether somebody holds the lease of a name at this moment; where it cannot be told, somebody does."""
    try:
        with (folder / f"{name}.lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _open(path: Path) -> IO[bytes]:
    """Open a file that leases are held on; its content means nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("ab")
    except OSError as exc:
        raise StoreError.unwritable(path, exc) from exc


def _lock(file: IO[bytes], offset: int) -> None:
    byte = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, byte)
    except BlockingIOError:
        log.info("another run is asking some of these requests; waiting for its answers")
        fcntl.fcntl(file, fcntl.F_OFD_SETLKW, byte)
