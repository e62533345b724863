"""``leaderflow list``: what can be evaluated, found by name, family or category."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from leaderflow.cli.options import AsJson, Debug
from leaderflow.core import catalogue
from leaderflow.core.catalogue import Entry


class What(StrEnum):
    """What is listed."""

    datasets = "datasets"
    models = "models"
    evaluators = "evaluators"
    postprocessors = "postprocessors"
    retrievers = "retrievers"
    inferencers = "inferencers"

    @property
    def registered(self) -> bool:
        """Whether these are names of the registry, to be written as `type`."""
        return self not in (What.datasets, What.models)


def list_(
    what: Annotated[What, typer.Argument(help="Recipes (datasets, models), or what `type` can name in a specification.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="All must fit; small slips are forgiven.")] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List recipes, or names for a specification, found by name, family, category or what they do."""
    found = catalogue.search(_entries(what), words or [])
    if as_json:
        from leaderflow.cli.console import print_json

        print_json([{"name": e.name, "about": e.category} if what.registered else e.as_json() for e in found])
    elif found:
        _print(found, what)
    else:
        print(f"no {what.value} fit {' '.join(words or [])!r}; `leaderflow list {what.value}` shows all")


def _entries(what: What) -> list[Entry]:
    if what is What.datasets:
        return catalogue.datasets()
    return catalogue.registered(what.value.removesuffix("s")) if what.registered else catalogue.models()


def _print(entries: Sequence[Entry], what: What) -> None:
    from leaderflow.cli.console import out
    from leaderflow.cli.table import grid

    if what is not What.datasets:
        second = "about" if what.registered else "type"
        out().print(grid(["name", second], [[entry.name, entry.category or ""] for entry in entries], whole=("name",)))
        return
    body = [[entry.name, entry.category or "", ", ".join(entry.recipes) or "-"] for entry in entries]
    out().print(grid(["name", "category", "recipes"], body))
