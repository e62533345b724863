"""``leaderflow history``: a model or dataset over all runs, and the best so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from leaderflow.cli.options import AsJson, Debug
from leaderflow.core.types import Json

SHOWN = 30
WHOLE = ("run", "version", "value")
"""Columns that no terminal folds."""


def history(
    name: Annotated[str, typer.Argument(metavar="MODEL|DATASET", help="A model, a dataset or a group.")],
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this suite.")] = None,
    n: Annotated[
        int | None,
        typer.Option("-n", min=1, metavar="N", help=f"How many of the newest results: by default {SHOWN}, with --json all."),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show a model or a dataset over all runs, newest first, and the best so far. Partial results (*) are never the best."""
    from leaderflow.cli.console import out, print_json, safe
    from leaderflow.core.paths import store_uri
    from leaderflow.core.store import Store
    from reports.history import history as look_up

    found = look_up(Store(store_uri()), name, suite, n or (None if as_json else SHOWN))
    if as_json:
        print_json(found)
        return
    console = out()
    console.print(_results(found["rows"], name))
    if older := found["total"] - len(found["rows"]):
        console.print(safe(f"… and {older} older results (-n {found['total']} shows all)", "dim"))
    console.print(safe("best so far", "bold"))
    console.print(_best(found["best"]))


def _results(rows: Sequence[Mapping[str, Json]], asked: str) -> object:
    from leaderflow.cli.table import grid
    from reports.table import number

    told = {name for name in ("suite", "model", "dataset") if {row[name] for row in rows} <= {None, asked}}
    names = [name for name in ("run", "suite", "model", "dataset", "version", "metric", "n") if name not in told]
    body = [[*(_text(row[name]) for name in names), number(row)] for row in rows]
    return grid([*names, "value"], body, range(len(names) - 1, len(names) + 1), whole=WHOLE)


def _best(rows: Sequence[Mapping[str, Json]]) -> object:
    from leaderflow.cli.table import grid

    header = ["dataset", "version", "metric", "value", "model", "run", "runs"]
    body = [[f"{row[name]:.2f}" if name == "value" else _text(row[name]) for name in header] for row in rows]
    return grid(header, body, range(3, 4), whole=WHOLE)


def _text(value: Json) -> str:
    return "-" if value is None else str(value)
