"""The leaderboard of all runs: one small Parquet file a run, appended when it ends, merged by and by.

Layout below the store's root::

    history/0-RUN.parquet        one run
    history/L-RUN-N.parquet      N runs merged, the last of them RUN; L is 1 or more

Files appear whole; a merge writes the new file before it removes the old ones, so a reader may see a run twice and drops the
second one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pyarrow as pa

from leaderflow.core.artifacts import SUMMARY
from leaderflow.core.errors import StoreError, UsageError, did_you_mean
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store

if TYPE_CHECKING:
    import duckdb

HISTORY = pa.schema(
    [
        ("run", pa.string()),
        ("finished", pa.timestamp("ms")),
        ("state", pa.string()),
        ("suite", pa.string()),
        ("leading", pa.bool_()),
        *[pa.field("is_group", f.type) if f.name == "group" else f for f in SUMMARY],
    ]
)
"""A row a run × model × dataset or group × metric. `finished` is UTC; `leading` marks the metric that counts."""

FAN = 64
"""So many files of one level are merged into one of the next."""

_TRIES = 20
_PAUSE = 0.05
"""Seconds between tries: removing merged files takes moments."""

T = TypeVar("T")

_SERIES = """
    SELECT DISTINCT ON (run, model, dataset, metric) * FROM read_parquet($files)
    WHERE "leading" AND (model = $name OR dataset = $name) AND ($suite IS NULL OR suite = $suite)
"""

_ROWS = """
    SELECT * EXCLUDE ("leading") REPLACE (strftime(finished, '%Y-%m-%dT%H:%M:%SZ') AS finished)
    FROM series ORDER BY series.finished DESC, run DESC, model, dataset LIMIT {limit}
"""

_BEST = """
    SELECT dataset, metric, version, model, value, run, runs
    FROM (SELECT *, CASE WHEN higher_is_better THEN value ELSE -value END AS signed,
                 count(*) OVER same AS runs, max(finished) OVER same AS newest
          FROM series WHERE NOT partial AND value IS NOT NULL WINDOW same AS (PARTITION BY dataset, metric, version))
    QUALIFY row_number() OVER (PARTITION BY dataset, metric, version ORDER BY signed DESC, finished, run, model) = 1
    ORDER BY newest DESC, dataset, metric, version
"""
"""Of equal values the one that came first."""


def append(store: Store, manifest: Manifest, summary: pa.Table) -> None:
    """Add a run's leaderboard to the history; once more for the same run replaces it.

    Args:
        store: where the history lies.
        manifest: of the run, finished.
        summary: its SUMMARY table.
    """
    store.files.write(f"history/0-{manifest.run}.parquet", _parquet(_rows(manifest, summary)))
    if len(_level(store, 0)) >= FAN:
        with store.lease("history"):
            _merge(store, 0)


def files(store: Store) -> list[Path]:
    """Return the history's files: paths on this machine."""
    return [path for path in store.files.mirror("history") if path.suffix == ".parquet"]


def history(store: Store, name: str, suite: str | None = None, limit: int | None = None) -> dict[str, Any]:
    """Return what all runs say of a model, a dataset or a group.

    Args:
        store: where the history lies.
        name: of the model, dataset or group.
        suite: only runs of this suite.
        limit: how many of the newest rows; None: all.

    Returns:
        ``rows``: one a run × model × dataset with its leading metric, newest first; ``total``: how many there are; ``best``: the
        best value so far of each dataset × metric × version, partial results left out. Times are ISO 8601 in UTC.

    Raises:
        UsageError: no run has such a model or dataset.
    """

    def ask(con: duckdb.DuckDBPyConnection, paths: list[str]) -> dict[str, Any]:
        con.execute(f"CREATE TABLE series AS {_SERIES}", {"files": paths, "name": name, "suite": suite})
        (total,) = con.sql("SELECT count(*) FROM series").fetchall()[0]
        if not total:
            _unknown(con, paths, name, suite)
        rows, best = (con.sql(text).to_arrow_table().to_pylist() for text in (_ROWS.format(limit=limit or total), _BEST))
        return {"name": name, "suite": suite, "total": total, "rows": rows, "best": best}

    return on_files(store, ask)


def _unknown(con: duckdb.DuckDBPyConnection, paths: list[str], name: str, suite: str | None) -> NoReturn:
    names = "SELECT DISTINCT unnest([model, dataset]) FROM read_parquet($files) WHERE ($suite IS NULL OR suite = $suite)"
    known = [row[0] for row in con.execute(names, {"files": paths, "suite": suite}).fetchall()]
    of = f" of suite {suite!r}" if suite else ""
    raise UsageError(f"no run{of} has a model or dataset {name!r}{did_you_mean(name, known)}")


def on_files(store: Store, ask: Callable[[duckdb.DuckDBPyConnection, list[str]], T]) -> T:
    """Return what `ask` finds in the history's files; asked again where they were merged away meanwhile.

    Raises:
        UsageError: there is no history yet.
    """
    import duckdb

    for attempt in range(_TRIES):
        paths = [str(path) for path in files(store)]
        if not paths:
            raise UsageError(f"no finished run in {store.files.place} yet; start one with `leaderflow run`")
        try:
            with duckdb.connect() as con:
                return ask(con, paths)
        except duckdb.IOException as exc:
            if attempt == _TRIES - 1:
                raise StoreError(f"the history in {store.files.place} cannot be read: {' '.join(str(exc).split())}") from exc
            time.sleep(_PAUSE)
    raise AssertionError


def _rows(manifest: Manifest, summary: pa.Table) -> pa.Table:
    seen: set[tuple[str, str]] = set()
    rows = []
    finished = datetime.fromisoformat(manifest.finished or manifest.started).replace(tzinfo=None)
    own = {"run": manifest.run, "finished": finished, "state": manifest.state, "suite": manifest.suite}
    for row in summary.to_pylist():
        cell = row["model"], row["dataset"]
        rows.append({**own, **row, "is_group": row["group"], "leading": cell not in seen})
        seen.add(cell)
    return pa.Table.from_pylist(rows, schema=HISTORY)


def _parquet(table: pa.Table) -> bytes:
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _level(store: Store, level: int) -> list[Path]:
    return [path for path in files(store) if path.name.startswith(f"{level}-")]


def _merge(store: Store, level: int) -> None:
    """Merge the files of a level where there are enough; the caller holds the lease."""
    import pyarrow.parquet as pq

    paths = _level(store, level)
    if len(paths) < FAN:
        return
    tables = [pq.read_table(path, schema=HISTORY) for path in paths]
    last = max(table.column("run")[-1].as_py() for table in tables if table.num_rows)
    store.files.write(f"history/{level + 1}-{last}-{len(paths)}.parquet", _parquet(pa.concat_tables(tables)))
    for path in paths:
        store.files.delete(f"history/{path.name}")
    _merge(store, level + 1)
