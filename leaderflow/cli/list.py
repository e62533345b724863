"""``leaderflow list``: what can be evaluated, found by name, family or category."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from leaderflow.cli.options import AsJson, Debug
from leaderflow.core.catalogue import Entry


class What(StrEnum):
    """What is listed."""

    datasets = "datasets"
    models = "models"


def list_(
    what: Annotated[What, typer.Argument(help="datasets or models.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="All must fit; small slips are forgiven.")] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List datasets or models by name, family and category."""
    from leaderflow.core import catalogue

    entries = catalogue.datasets() if what is What.datasets else catalogue.models()
    found = catalogue.search(entries, words or [])
    if as_json:
        from leaderflow.cli.console import print_json

        print_json([entry.as_json() for entry in found])
    elif found:
        _print(found, what)
    else:
        print(f"no {what.value} fit {' '.join(words or [])!r}")


def _print(entries: Sequence[Entry], what: What) -> None:
    from leaderflow.cli.console import out
    from leaderflow.cli.table import grid

    if what is What.models:
        out().print(grid(["name", "type"], [[entry.name, entry.category or ""] for entry in entries]))
        return
    body = [[entry.name, entry.category or "", ", ".join(entry.recipes) or "-"] for entry in entries]
    out().print(grid(["name", "category", "recipes"], body))
