"""How a run tells what it is doing. The command line draws it; everything else may stay silent."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from leaderflow.core.types import Answer


@dataclass(frozen=True, slots=True)
class Live:
    """What a run is doing at this moment: requests under way, and dollars spent (None where no price is known)."""

    in_flight: int = 0
    cost: float | None = None


class Progress(Protocol):
    """Hears of everything worth showing. Called from several threads."""

    def line(self, text: str) -> None:
        """Show one line: a warning, an address, what is skipped."""
        ...

    def watch(self, live: Callable[[], Live]) -> None:
        """Take in whom to ask what the run is doing."""
        ...

    def cell(self, cell: str, total: int, reused: int) -> None:
        """A cell has grown to `total` requests, of which `reused` were answered by earlier runs."""
        ...

    def answered(self, cell: str, answer: Answer) -> None:
        """A request of the cell was answered (or given up: status ``error``)."""
        ...

    def finish(self) -> None:
        """Nothing more will come."""
        ...


class Silent:
    """Shows nothing."""

    def line(self, text: str) -> None:
        """Ignore."""

    def watch(self, live: Callable[[], Live]) -> None:
        """Ignore."""

    def cell(self, cell: str, total: int, reused: int) -> None:
        """Ignore."""

    def answered(self, cell: str, answer: Answer) -> None:
        """Ignore."""

    def finish(self) -> None:
        """Ignore."""


@dataclass
class Count:
    """What is known of a cell; rates leave out what earlier runs answered."""

    total: int = 0
    reused: int = 0
    answered: int = 0
    retries: int = 0
    tokens: int = 0
    thinking: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Rows without an answer, by class of error."""
    started: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Requests answered by this run and earlier ones."""
        return self.reused + self.answered

    def add(self, answer: Answer) -> None:
        """Count an answer. Time begins with the request that was answered first: until then the cell waited for its turn."""
        if not self.answered and answer.latency_s is not None:
            self.started = max(self.started, time.monotonic() - answer.latency_s)
        self.answered += 1
        self.retries += max(0, answer.attempts - 1)
        if answer.status == "error":
            self.failed[answer.error_class or "unknown"] += 1
        self.tokens += answer.output_tokens or 0
        self.thinking += answer.reasoning_tokens or 0

    def rate(self) -> float:
        """Return answers a second."""
        return self.answered / self.seconds()

    def seconds(self) -> float:
        """Return how long the cell has been under way."""
        return max(time.monotonic() - self.started, 1e-3)

    def describe(self) -> str:
        """Return ``120/1000 · 34.1/s · 5,120 tokens · 26 s left``."""
        parts = [f"{self.done}/{self.total}"]
        if self.answered:
            rate = f"{self.rate():.1f}/s" if self.rate() >= 1 else f"{1 / self.rate():.1f} s each"
            parts += [rate, *([self._said()] if self.tokens else [])]
            if self.done < self.total:
                parts.append(f"{duration((self.total - self.done) / self.rate())} left")
        if self.retries:
            parts.append(f"{self.retries} retries")
        if self.failed:
            classes = ", ".join(f"{rows} {kind}" for kind, rows in sorted(self.failed.items()))
            parts.append(f"{self.failed.total()} failed ({classes})")
        return " · ".join(parts)

    def _said(self) -> str:
        thinking = f", {self.thinking / self.tokens:.0%} reasoning" if self.thinking else ""
        return f"{self.tokens:,} tokens ({self.tokens / self.seconds():.0f}/s{thinking})"


def duration(seconds: float) -> str:
    """Return a duration for people: ``45 s``, ``12 min``, ``3 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
