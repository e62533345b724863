"""What a reader gives: rows that know where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from leaderflow.core.types import Json, Row

ONLY = None
"""The name of the split of a source that has just one."""


@dataclass(frozen=True, slots=True)
class Record:
    """One row as the source has it; `place` is ``file:line``, or whatever lets a person find the row."""

    row: Row
    place: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where to look for data.

    Args:
        data_dir: the folder that ``local:`` paths are looked up in, before any network.
        offline: open no socket at all.
    """

    data_dir: Path | None = None
    offline: bool = False


class Reader(Protocol):
    """A dataset type: built as ``Type(dataset=…, source=…, **arguments)``; opens nothing before it is asked."""

    def splits(self) -> Sequence[str | None]:
        """Return the names of the splits; ``[ONLY]`` where the source is one set of rows."""
        ...

    def records(self, split: str | None) -> list[Record]:
        """Return the rows of a split, in the source's order.

        Raises:
            DataError: the source is absent or wrong.
        """
        ...

    def fingerprint(self) -> Json:
        """Return what the source is, without paths."""
        ...
