"""``leaderflow runs``, ``show``, ``trace`` and ``why``: look at what is in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from leaderflow.cli.options import AsJson, Debug
from leaderflow.core.errors import UsageError
from leaderflow.core.types import Json

if TYPE_CHECKING:
    from leaderflow.core.manifest import CellEntry, Manifest
    from leaderflow.core.store import Store

SHORTEST_KEY = 6
NAMES_WIDTH = 40
RUN_COLUMNS = ("run", "state", "models", "datasets", "time", "requests", "suite")


class Format(StrEnum):
    """How a leaderboard is printed."""

    table = "table"
    csv = "csv"
    md = "md"
    json = "json"


Run = Annotated[str, typer.Argument(help="Id of a run, its beginning, or latest.")]
Sample = Annotated[str | None, typer.Option(metavar="ID", help="Only this sample.")]


def runs(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the runs in the store, newest first."""
    from leaderflow.cli.console import out, print_json, safe, show_log
    from leaderflow.cli.table import grid
    from leaderflow.core.manifest import Manifest

    show_log()
    rows = [_run_row(manifest) for manifest in reversed(list(Manifest.all(_store())))]
    if as_json:
        print_json(rows)
    elif rows:
        columns = RUN_COLUMNS if any(row["suite"] for row in rows) else RUN_COLUMNS[:-1]
        out().print(grid(columns, [_run_line(row)[: len(columns)] for row in rows], range(4, 6), whole=("run", "state")))
    else:
        out().print(safe("no run yet; start one with `leaderflow run`"))


def show(
    run: Run = "latest",
    cell: Annotated[str | None, typer.Argument(help="MODEL:DATASET, to see its samples.", show_default=False)] = None,
    dataset: Annotated[
        str | None, typer.Option("-d", "--dataset", metavar="NAME", help="All cells of this dataset or group.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many samples of a cell.")] = 10,
    wrong: Annotated[bool, typer.Option("--wrong", help="Only answers that were not right.")] = False,
    unparsed: Annotated[bool, typer.Option("--unparsed", help="Only answers in which nothing was found.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only samples without an answer.")] = False,
    sample: Sample = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="Condition on sample_id, repeat, status, correct, score, extracted, output, …")
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Only answers about which the extractors disagree, or one finds nothing.")
    ] = False,
    format_: Annotated[
        Format, typer.Option("--format", help="How to print; csv and md print the leaderboard alone.")
    ] = Format.table,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show a run's leaderboard and, of a cell, of a run's only cell or of what a filter chooses, what was asked and answered."""
    from leaderflow.cli.console import print_json
    from leaderflow.cli.find import Wanted, cells_of, find
    from leaderflow.cli.samples import leaderboard, print_samples
    from leaderflow.core.manifest import Manifest

    store = _store()
    manifest = Manifest.load(store, run)
    if as_json and format_ in (Format.csv, Format.md):
        raise UsageError(f"--json and --format {format_.value} say different things; give one of them")
    if format_ in (Format.csv, Format.md):
        print_board(leaderboard(store, manifest), format_)
        return
    named = {"wrong": wrong, "unparsed": unparsed, "failed": failed}
    wanted = Wanted(n, tuple(name for name, given in named.items() if given), sample, where, audit)
    cells = cells_of(manifest, cell, dataset, wanted)
    rows = find(store, manifest, cells, wanted)
    board = leaderboard(store, manifest)
    if as_json or format_ is Format.json:
        print_json({"run": manifest.run, "state": manifest.state, "cells": board, "samples": rows})
    else:
        print_samples(manifest, board, cells, rows)


def print_board(rows: Sequence[Mapping[str, Json]], form: Format) -> None:
    """Print a leaderboard as CSV or Markdown."""
    from leaderflow.core.text import printable
    from reports.table import csv_table, markdown_table

    print(printable(csv_table(rows).rstrip("\n") if form is Format.csv else markdown_table(rows)))


def trace(
    run: Run,
    cell: Annotated[str | None, typer.Argument(help="MODEL:DATASET; a run's only cell needs no name.", show_default=False)] = None,
    sample: Sample = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Walk a cell's number back: metrics, scores, extracted answers, outputs, prompts, samples, each with its key and file."""
    from leaderflow.cli.console import print_json
    from leaderflow.cli.find import Wanted, find
    from leaderflow.cli.samples import print_trace, the_cell, trace_tables
    from leaderflow.core.manifest import Manifest

    store = _store()
    manifest = Manifest.load(store, run)
    name = the_cell(manifest, cell)
    tables = trace_tables(manifest.cells[name])
    rows = find(store, manifest, [name], Wanted(n=1, sample=sample))
    found = {"run": manifest.run, "cell": name, "version": manifest.cells[name].version, "tables": tables, "samples": rows}
    if as_json:
        print_json(found)
    else:
        print_trace(found)


def why(
    left: Annotated[str, typer.Argument(metavar="KEY", help="RUN:CELL, a version, or an artifact's key or its beginning.")],
    right: Annotated[str, typer.Argument(metavar="KEY", help="Another one.")],
    debug: Debug = False,
) -> None:
    """Say why two results or artifacts are not the same: the first field in which they differ."""
    from leaderflow.cli.console import out, safe
    from leaderflow.core.identity import first_difference

    store = _store()
    difference = first_difference(_parts(store, left), _parts(store, right))
    out().print(safe(difference or "the two are the same"), soft_wrap=True)


def _store() -> Store:
    from leaderflow.core.paths import store_uri
    from leaderflow.core.store import Store

    return Store(store_uri())


def _parts(store: Store, key: str) -> Json:
    """Return what a key or a version was made from.

    Raises:
        UsageError: nothing in the store has it.
    """
    from leaderflow.cli.samples import the_cell
    from leaderflow.core.manifest import Manifest

    run, colon, cell = key.partition(":")
    if colon:
        found = Manifest.load(store, run)
        return _made_from(found.cells[the_cell(found, cell)])
    if len(key) >= SHORTEST_KEY and (record := store.find(key)) is not None:
        return record.parts
    for manifest in Manifest.all(store):
        for entry in manifest.cells.values():
            if entry.version == key:
                return _made_from(entry)
    raise UsageError(
        f"no result has the version {key!r}, and no artifact a key that begins so; leaderboards show versions, "
        f"`leaderflow trace RUN CELL` shows keys ({SHORTEST_KEY} digits or more), and RUN:CELL names a result, too"
    )


def _made_from(entry: CellEntry) -> Json:
    return {"protocol": entry.protocol, "samples": [{"rows": ref.rows, "sha": ref.digest} for ref in entry.tables["samples"]]}


def _run_line(row: Mapping[str, Json]) -> list[str]:
    from flows.progress import duration
    from leaderflow.core.text import shortened

    named = [shortened(", ".join(row[name]), NAMES_WIDTH) or "-" for name in ("models", "datasets")]
    seconds = "-" if row["seconds"] is None else duration(row["seconds"])
    return [row["run"], row["state"], *named, seconds, str(row["requests"] or 0), row["suite"] or "-"]


def _run_row(manifest: Manifest) -> dict[str, Json]:
    cells = manifest.cells.values()
    planned = {kind: [block["abbr"] for block in manifest.spec.get(kind, [])] for kind in ("models", "datasets")}
    return {
        "run": manifest.run,
        "state": manifest.state,
        "models": list(dict.fromkeys(entry.model for entry in cells)) or planned["models"],
        "datasets": list(dict.fromkeys(entry.group or entry.dataset for entry in cells)) or planned["datasets"],
        "cells": len(manifest.cells),
        "suite": manifest.suite,
        "started": manifest.started,
        "seconds": manifest.seconds.get("total"),
        "requests": manifest.requests.get("sent"),
    }
