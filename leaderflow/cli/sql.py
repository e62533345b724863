"""``leaderflow sql``: ask the store."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer

from leaderflow.cli.options import AsJson, Debug


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT over the views runs, cells, samples and answers.")],
    run: Annotated[str | None, typer.Option(metavar="RUN", help="Only this run's cells, samples and answers.")] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Ask the store in SQL (DuckDB's dialect). Nothing is ever written.

    `leaderflow sql "describe samples"` lists the columns of a view.
    """
    from leaderflow.cli.console import out, print_json, show_log
    from leaderflow.cli.table import print_wide
    from leaderflow.core.paths import store_uri
    from leaderflow.core.store import Store
    from reports.sql import query as ask

    show_log()
    found = ask(Store(store_uri()), query, run)
    rows = [[_plain(value) for value in row.values()] for row in found.to_pylist()]
    if as_json:
        print_json([dict(zip(found.column_names, row, strict=True)) for row in rows])
    else:
        print_wide(found.column_names, [[_shown(value) for value in row] for row in rows], out())


def _plain(value: Any) -> Any:
    """Return a value as strict JSON has it: times and other foreign types as text, NaN as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return json.loads(json.dumps(value, default=str))


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
