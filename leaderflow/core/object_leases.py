"""Leases of an object store: claims, which are small objects that their holders renew.

There are no locks and, across providers, no conditional writes; but listings show every finished write, and that is enough for
Lamport's bakery: whoever wants something writes a claim with the number 0, sees which numbers are taken, and writes the claim again
with the next one; then all claims to the same with a lower number, 0 included, come first. A claim is an object
``leases/NAME/NUMBER-HOLDER`` whose lines are the keys it covers.

What is guaranteed: while holders are alive and renew in time, no two hold one key, whatever their clocks say. A holder that died,
or could not reach the store for `EXPIRES_S`, is passed over: it is dead by the store's clock, which stamps the claims. If it
was only slow, two may ask the same requests: that costs money, and nothing else, because answers are stored one by one.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from leaderflow.core.errors import StoreError
from leaderflow.core.leases import HEX_DIGITS

if TYPE_CHECKING:
    from leaderflow.core.objects import Found, ObjectFiles

log = logging.getLogger("leaderflow.answers")

EXPIRES_S = 45.0
"""A claim that was not renewed for so long is its holder's no more."""

RENEW_S = 10.0

POLL_S = 1.0
"""Seconds between looks at the claims that come first."""

_CLAIM = re.compile(r"\d{12}-\w+")


@contextlib.contextmanager
def object_lease(files: ObjectFiles, name: str, keys: Iterable[str] | None = None) -> Iterator[None]:
    """Hold the lease of a name, or of some keys below it; waits while somebody else holds it or one of them.

    Args:
        files: the store.
        name: what the lease is of.
        keys: only these; None for the name as a whole.

    Raises:
        StoreError: the store cannot be reached.
    """
    claim = _Claim(files, f"leases/{name}", keys)
    try:
        claim.enter()
        yield
    finally:
        claim.leave()


def object_leased(files: ObjectFiles, name: str) -> bool:
    """Say whether somebody holds the lease of a name: whether a claim was renewed lately by this machine's clock."""
    return any(time.time() - claim.mtime / 1e9 < EXPIRES_S for claim in _claims(files, f"leases/{name}").values())


class _Claim:
    def __init__(self, files: ObjectFiles, folder: str, keys: Iterable[str] | None) -> None:
        self._files, self._folder = files, folder
        self._keys = frozenset(["*"] if keys is None else (key[:HEX_DIGITS] for key in keys))
        self._body = "\n".join(sorted(self._keys)).encode()
        self._holder, self._number = uuid.uuid4().hex, 0
        self._others: dict[str, frozenset[str]] = {}
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease-renew", daemon=True)

    @property
    def _name(self) -> str:
        return f"{self._folder}/{self._number:012d}-{self._holder}"

    def enter(self) -> None:
        """Take a number and wait until all lower ones are gone."""
        self._write()
        first, taken = self._name, [_number(name) for name in _claims(self._files, self._folder)]
        self._number = 1 + max(taken, default=0)
        self._write()
        self._files.delete(first)
        self._thread.start()
        if self._waits():
            log.warning("another run holds %s, or died less than %.0f s ago; waiting for it", self._folder, EXPIRES_S)
            while self._waits():
                time.sleep(POLL_S)

    def leave(self) -> None:
        """Let go; where the store cannot be reached, the claim expires by itself."""
        self._left.set()
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(StoreError):
            self._files.delete(self._name)

    def _waits(self) -> bool:
        """Say whether somebody comes first; claims of the dead are removed."""
        found = _claims(self._files, self._folder)
        now = max((claim.mtime for claim in found.values()), default=0)  # our own is renewed, which keeps the store's clock going
        for name in sorted(found):
            if name >= self._name:
                return False
            if now - found[name].mtime > EXPIRES_S * 1e9:
                self._files.delete(name)
            elif self._keys & self._claimed(name):
                return True
        return False

    def _claimed(self, name: str) -> frozenset[str]:
        if name not in self._others:
            try:
                self._others[name] = frozenset(self._files.read(name).decode().split("\n"))
            except FileNotFoundError:  # it was let go since it was listed
                return frozenset()
        return self._others[name]

    def _write(self) -> None:
        self._files.write(self._name, self._body)

    def _renew(self) -> None:
        while not self._left.wait(RENEW_S):
            with contextlib.suppress(StoreError):  # the next time it may work, and the claim is good for some more seconds
                self._write()


def _claims(files: ObjectFiles, folder: str) -> dict[str, Found]:
    """Return the claims in a folder; whatever else somebody put there is none."""
    return {name: found for name, found in files.found(folder).items() if _CLAIM.fullmatch(name.removeprefix(f"{folder}/"))}


def _number(name: str) -> int:
    return int(name.rpartition("/")[2].partition("-")[0])
