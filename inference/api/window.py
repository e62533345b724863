"""How many requests to one endpoint are in flight, for all shards and cells together."""

from __future__ import annotations

import asyncio
import logging
from collections import deque

log = logging.getLogger("leaderflow.api")


class Window:
    """A concurrency window that gives way to an overloaded server and grows again.

    Additive increase, multiplicative decrease, as in TCP's congestion control (RFC 5681): a refusal (429, 529) of a request that
    left after the last cut cuts the limit, by a half while the server's limit is far off, by a tenth near it; every window of good
    replies adds one, and more the longer nothing is refused. Used inside one event loop only.

    Args:
        size: the largest number in flight.
        name: the endpoint's, for the log.
    """

    def __init__(self, size: int, name: str) -> None:
        self.size, self.name, self.in_flight = size, name, 0
        self._limit = float(size)
        self._epoch = 0
        self._good, self._rounds = 0, 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """The present limit, at least 1."""
        return max(1, int(self._limit))

    def resize(self, size: int) -> None:
        """Set the largest number in flight."""
        self.size = size
        self._limit = float(size)
        self._wake()

    async def acquire(self, *, first: bool = False) -> int:
        """Wait for a place and return its epoch (`overloaded` wants it); `first` goes before those who have not asked yet."""
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return self._epoch
        place = asyncio.get_running_loop().create_future()
        (self._waiting.appendleft if first else self._waiting.append)(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # the place was given at the very moment of the cancellation
                self.release()
            raise
        return self._epoch

    def release(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        self._wake()

    def healthy(self) -> None:
        """Note a good reply."""
        self._good += 1
        if self._limit < self.size and self._good >= self._limit:
            self._good, self._rounds = 0, self._rounds + 1
            self._limit = min(float(self.size), self.limit + 1 + self._rounds // 4)
            if self.limit == self.size:
                log.info("%s: back to %d requests in flight", self.name, self.size)
            self._wake()

    def overloaded(self, epoch: int) -> None:
        """Note a refusal; those of requests that left before the last cut tell nothing new."""
        if epoch != self._epoch:
            return
        near = self._rounds > 0
        used = max(1, min(self.limit, self.in_flight))  # what the server refused, not what it was never sent
        self._limit = max(1.0, used * (0.9 if near else 0.5))
        self._epoch += 1
        self._good = self._rounds = 0
        log.info("%s is overloaded: %d requests in flight from now on", self.name, self.limit)

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)
