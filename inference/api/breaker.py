"""Waits for a server that is away, instead of failing row after row."""

from __future__ import annotations

import asyncio
import logging
import time

from inference.api.errors import Fault

log = logging.getLogger("leaderflow.api")

TRIP_AFTER = 10
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0


class Breaker:
    """A circuit breaker (Nygard, *Release It!*) of one endpoint.

    It opens when so many requests in a row fail at their *first* attempt that the rows cannot be to blame: the server cannot be
    reached, or says that it is out of service (502, 503, 504). While open, one request at a time is let through, after growing
    pauses; the first success closes it. Used inside one event loop only.

    Args:
        name: the endpoint's, for the log.
        patience: seconds after which a server that stays away ends the run.
    """

    def __init__(self, name: str, patience: float) -> None:
        self.name, self.patience = name, patience
        self._failures = 0
        self._opened: float | None = None
        self._pause, self._next = FIRST_PAUSE_S, 0.0

    @property
    def is_open(self) -> bool:
        """Whether the server is believed to be away."""
        return self._opened is not None

    async def wait(self) -> None:
        """Wait until a request may leave: at once while closed, as the next trial while open."""
        while self._opened is not None and (pause := self._next - time.monotonic()) > 0:
            await asyncio.sleep(min(pause, 0.25))
        if self._opened is not None:
            self._next = time.monotonic() + self._pause
            self._pause = min(LONGEST_PAUSE_S, self._pause * 2)

    def failed(self, fault: Fault, *, first: bool) -> None:
        """Note a failed attempt; `first` says that it was the request's first one.

        Raises:
            Fault: the server has been away for longer than `patience`.
        """
        if not fault.away:
            return self.succeeded()
        self._failures += first
        if self._opened is None and self._failures >= TRIP_AFTER:
            self._opened, self._pause = time.monotonic(), FIRST_PAUSE_S
            self._next = self._opened + self._pause
            log.warning("%s is away (%s); waiting up to %.0f s for it", self.name, fault.message, self.patience)
        elif self._opened is not None and time.monotonic() - self._opened > self.patience:
            raise Fault("run", f"{fault.message}; the server has been away for {self.patience:.0f} s")

    def succeeded(self) -> None:
        """Note a reply: the server is there."""
        if self._opened is not None:
            log.warning("%s is back after %.0f s", self.name, time.monotonic() - self._opened)
        self._failures, self._opened = 0, None
