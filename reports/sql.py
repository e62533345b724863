"""SQL over the store, read-only: the views `runs`, `cells`, `samples` and `answers`.

The files are read where they lie (Arrow datasets and Parquet); only the columns that a query names are decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from leaderflow.core.artifacts import EXTRACTED, OUTPUTS, SCORES
from leaderflow.core.errors import UsageError, did_you_mean
from leaderflow.core.manifest import Manifest, each_readable, manifests, plain_manifest
from leaderflow.core.store import Store
from reports import history

if TYPE_CHECKING:
    import duckdb

RUNS = pa.schema(
    [
        ("run", pa.string()),
        ("state", pa.string()),
        ("started", pa.timestamp("s")),
        ("finished", pa.timestamp("s")),
        ("suite", pa.string()),
        ("models", pa.list_(pa.string())),
        ("datasets", pa.list_(pa.string())),
        ("seconds", pa.float64()),
        ("sent", pa.int64()),
        ("reused", pa.int64()),
        ("prompt_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
    ]
)
"""A row a run. `sent` and `reused` count requests; `seconds` is wall time; times are UTC."""

_CELLS = "SELECT DISTINCT ON (run, model, dataset, metric) * FROM history_rows"

_SAMPLES = """
    SELECT run, model, dataset, s.* EXCLUDE (artifact), e.extracted, e.reference
    FROM scores_rows s JOIN scores_cells USING (artifact)
    LEFT JOIN (SELECT cell, e.* FROM extracted_rows e JOIN extracted_cells USING (artifact)) e USING (cell, sample_id, repeat)
"""

_ANSWERS = "SELECT run, model, dataset, o.* EXCLUDE (artifact) FROM outputs_rows o JOIN outputs_cells USING (artifact)"


def query(store: Store, text: str, run: str | None = None) -> pa.Table:
    """Return the result of one SELECT over the store.

    Args:
        store: what is read.
        text: one statement in DuckDB's SQL.
        run: only this run's cells, samples and answers (its id, its beginning, or ``latest``); faster in a large store.

    Raises:
        UsageError: the statement is not a single SELECT, is wrong, or reaches for anything but the views.
    """
    import duckdb

    only = Manifest.load(store, run).run if run else None
    names: set[str] = set()
    try:
        names = _checked(text)
        with duckdb.connect() as con:
            for name, make in VIEWS.items():
                if name in names:
                    make(con, store, only)
            for option in ("enable_external_access = false", "python_enable_replacements = false", "lock_configuration = true"):
                con.execute(f"SET {option}")
            return con.sql(text).to_arrow_table()
    except duckdb.Error as exc:
        raise UsageError(_one_line(exc, names)) from exc


def _checked(text: str) -> set[str]:
    """Return the names of the tables that a statement reads; refuses all but one SELECT."""
    import duckdb

    with duckdb.connect() as con:
        statements = con.extract_statements(text)
        if len(statements) != 1:
            raise UsageError(f"one SELECT at a time, please; this is {len(statements)} statements")
        kind = statements[0].type
        if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
            raise UsageError(f"the store is only read: {kind.name} is refused; write a SELECT over {', '.join(VIEWS)}")
        try:
            return {name.lower() for name in con.get_table_names(text)}
        except duckdb.Error:  # DESCRIBE and its like
            return set(VIEWS)


def _one_line(exc: Exception, names: set[str]) -> str:
    """Return an error of DuckDB without its drawing of the place; a misspelt view is told from ours."""
    lines = [line.strip() for line in str(exc).splitlines() if line.strip()]
    kept = " ".join(line for line in lines if not line.startswith(("LINE ", "^")))
    for name in sorted(names - set(VIEWS)):
        if f"Table with name {name} " in kept:
            return f"there is no view {name!r} among {', '.join(VIEWS)}{did_you_mean(name, VIEWS)}"
    if "Referenced column" in kept:
        return f"{kept}; `leaderflow sql 'DESCRIBE {min(names & set(VIEWS), default='samples')}'` lists the columns"
    return kept


def _runs(con: duckdb.DuckDBPyConnection, store: Store, run: str | None) -> None:
    rows = [_run_row(manifest) for manifest in _manifests(store, run)]
    con.register("runs", pa.Table.from_pylist(rows, schema=RUNS))


def _cells(con: duckdb.DuckDBPyConnection, store: Store, run: str | None) -> None:
    import pyarrow.parquet as pq

    tables = [pq.read_table(path, schema=history.HISTORY) for path in history.files(store)]
    con.register("history_rows", pa.concat_tables([*tables, history.HISTORY.empty_table()]))
    where = f" WHERE run = '{run}'" if run else ""
    con.execute(f"CREATE VIEW cells AS {_CELLS}{where}")


def _samples(con: duckdb.DuckDBPyConnection, store: Store, run: str | None) -> None:
    found = _artifacts(store, run, {"scores": SCORES, "extracted": EXTRACTED})
    for name, own in found.items():
        own.register(con, name, store)
    con.execute(f"CREATE VIEW samples AS {_SAMPLES}")


def _answers(con: duckdb.DuckDBPyConnection, store: Store, run: str | None) -> None:
    _artifacts(store, run, {"outputs": OUTPUTS})["outputs"].register(con, "outputs", store)
    con.execute(f"CREATE VIEW answers AS {_ANSWERS}")


VIEWS: Mapping[str, Callable[[duckdb.DuckDBPyConnection, Store, str | None], None]] = {
    "runs": _runs,
    "cells": _cells,
    "samples": _samples,
    "answers": _answers,
}
"""View → what makes it. Only those that a statement names are made."""


@dataclass
class _Artifacts:
    """The files of one table, each once, and which cells they belong to."""

    schema: pa.Schema
    numbers: dict[str, int] = field(default_factory=dict)
    cells: list[dict[str, Any]] = field(default_factory=list)

    def add(self, path: str, cell: Mapping[str, str | int]) -> None:
        number = self.numbers.setdefault(path, len(self.numbers))
        self.cells.append({**cell, "artifact": number})

    def register(self, con: duckdb.DuckDBPyConnection, name: str, store: Store) -> None:
        """Make the tables NAME_rows and NAME_cells; files that are gone are left out."""
        import pyarrow.dataset as ds

        sizes = store.files.sizes(self.numbers)
        there = {path: number for path, number in self.numbers.items() if path in sizes}
        schema = self.schema.append(pa.field("artifact", pa.int64()))
        rows = ds.FileSystemDataset.from_paths(
            list(there),
            schema=schema,
            format=ds.IpcFileFormat(),
            filesystem=store.files.arrow(),
            partitions=[ds.field("artifact") == number for number in there.values()],
        )
        con.register(f"{name}_rows", rows if there else schema.empty_table())
        names = ("run", "model", "dataset")
        cells = pa.schema([*((n, pa.string()) for n in names), ("cell", pa.int64()), ("artifact", pa.int64())])
        con.register(f"{name}_cells", pa.Table.from_pylist(self.cells, schema=cells))


def _artifacts(store: Store, run: str | None, tables: Mapping[str, pa.Schema]) -> dict[str, _Artifacts]:
    found = {name: _Artifacts(schema) for name, schema in tables.items()}
    cells = ((manifest["run"], entry) for manifest in _manifests(store, run) for entry in manifest["cells"].values())
    for number, (of, entry) in enumerate(cells):
        for name, own in found.items():
            for ref in entry["tables"].get(name, []):
                own.add(ref["path"], {"run": of, "model": entry["model"], "dataset": entry["dataset"], "cell": number})
    return found


def _manifests(store: Store, run: str | None) -> Iterator[dict[str, Any]]:
    """Yield manifests as plain JSON: validating thousands of specs costs more than the query."""
    there = manifests(store)
    return each_readable([there[run]] if run else there.values(), lambda path: plain_manifest(store, path))


def _run_row(manifest: Mapping[str, Any]) -> dict[str, Any]:
    from datetime import datetime

    requests = manifest["requests"]
    times = {
        name: datetime.fromisoformat(manifest[name]).replace(tzinfo=None) if manifest[name] else None
        for name in ("started", "finished")
    }
    return {
        **{name: manifest[name] for name in ("run", "state", "suite")},
        **times,
        "models": [model["abbr"] for model in manifest["spec"]["models"]],
        "datasets": [dataset["abbr"] for dataset in manifest["spec"]["datasets"]],
        "seconds": manifest["seconds"].get("total"),
        **{name: requests.get(name, 0) for name in ("sent", "reused", "prompt_tokens", "output_tokens")},
        "reasoning_tokens": requests.get("reasoning_tokens"),
    }
