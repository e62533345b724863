"""The table of names that have no counterpart here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaderflow.core.opencompass import Missing


def print_missing(missing: Iterable[Missing]) -> None:
    """Print names, files and lines on stderr."""
    from leaderflow.cli.console import err
    from leaderflow.cli.table import grid

    err().print(grid(["what", "name", "where", ""], [[m.kind, m.name, m.place, m.hint] for m in missing]))
