"""How a run tells what it is doing. The command line draws it; everything else may stay silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
