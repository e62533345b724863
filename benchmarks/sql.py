"""SQL over a million samples and the history of five thousand runs: ``python -m benchmarks.sql``.

Beside each: the same question asked of one file that holds nothing else (a Parquet file of the scores; a Parquet file of the
history), as somebody without a store would have it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from leaderflow.core.artifacts import EXTRACTED, SCORES, SUMMARY, table_of
from leaderflow.core.identity import sha256_hex
from leaderflow.core.manifest import CellEntry, Manifest
from leaderflow.core.store import ArtifactRef, Store
from leaderflow.core.table_files import arrow_bytes
from reports import history
from reports.sql import query

CELLS, SAMPLES, RUNS = 20, 50_000, 5_000
QUESTION = "SELECT dataset, avg(score), count(*) FROM samples GROUP BY dataset"


def put(store: Store, key: str, name: str, table: pa.Table) -> ArtifactRef:
    """Write a table as the store does, without the digest over a million rows."""
    path = Path("artifacts") / "score" / key[:2] / f"{key}.{name}.arrow"
    data = arrow_bytes(table)
    store.files.write(str(path), data)
    parts = {"stage": "score", "key": key, "table": name, "path": path.as_posix(), "rows": table.num_rows}
    return ArtifactRef(**parts, bytes=len(data), sha256="", digest="")


def million(store: Store) -> pa.Table:
    """Write a run of a million samples; return its scores as one table."""
    manifest = Manifest(run="r", state="completed", started="2030-01-01T00:00:00+00:00", spec={"models": [], "datasets": []})
    scores = []
    for number in range(CELLS):
        ids = [sha256_hex(f"{number}-{i}")[:16] for i in range(SAMPLES)]
        own = {"sample_id": ids, "repeat": [0] * SAMPLES, "status": ["ok"] * SAMPLES}
        right = [i % 3 > 0 for i in range(SAMPLES)]
        table = _full(SCORES, own | {"correct": right, "score": [float(x) for x in right]})
        answers = [f'"{i}"' for i in range(SAMPLES)]
        extracted = _full(EXTRACTED, own | {"extracted": answers, "reference": answers})
        key = sha256_hex(str(number))
        tables = {"scores": [put(store, key, "scores", table)], "extracted": [put(store, key, "extracted", extracted)]}
        manifest.cells[f"m:d{number}"] = CellEntry(model="m", dataset=f"d{number}", tables=tables)
        scores.append(table.append_column("dataset", pa.repeat(f"d{number}", SAMPLES)))
    manifest.save(store)
    return pa.concat_tables(scores)


def _full(schema: pa.Schema, columns: dict[str, list[Any]]) -> pa.Table:
    rows = len(columns["sample_id"])
    return pa.table({field.name: columns.get(field.name, [None] * rows) for field in schema}, schema=schema)


def runs(store: Store) -> None:
    """Append five thousand runs of 24 cells each to the history."""
    for number in range(RUNS):
        text = f"2030-{1 + number // 450:02d}-{1 + number // 16 % 28:02d}T{number % 24:02d}:00:00+00:00"
        manifest = Manifest(run=f"r{number:05d}", state="completed", started=text, finished=text, spec={})
        counts = {"n": 100, "n_scored": 100}
        rows = [
            {
                "model": f"m{m}",
                "dataset": f"d{d}",
                "metric": "accuracy",
                "value": float((number * 7 + m * d) % 100),
                "version": "abcd",
            }
            | {"higher_is_better": True, "group": False, "partial": False, **counts}
            for m in range(4)
            for d in range(6)
        ]
        history.append(store, manifest, table_of(SUMMARY, rows))


def best(ask: Callable[[], Any]) -> float:
    """Return the shortest of three times in seconds."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        ask()
        times.append(time.perf_counter() - started)
    return min(times)


def command(store: Store, *arguments: str) -> float:
    """Return the wall time of a whole command, interpreter and all."""
    import os

    environment = {**os.environ, "LEADERFLOW_STORE": store.files.place}
    line = [sys.executable, "-m", "leaderflow", *arguments]
    return best(lambda: subprocess.run(line, env=environment, check=True, capture_output=True))


def main() -> None:
    """Print the times."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        bare = Path(folder) / "scores.parquet"
        pq.write_table(million(store), bare)
        print(f"{CELLS * SAMPLES:,} samples, {QUESTION}")
        print(f"  leaderflow.sql              {best(lambda: query(store, QUESTION)):.2f} s")
        print(f"  the whole command           {command(store, 'sql', QUESTION):.2f} s")
        alone = QUESTION.replace("samples", f"'{bare}'")
        print(f"  DuckDB, one Parquet file    {best(lambda: duckdb.sql(alone).fetchall()):.2f} s")
        runs(store)
        print(f"{RUNS:,} runs of 24 cells, history d1: {len(history.files(store))} files")
        print(f"  reports.history             {best(lambda: history.history(store, 'd1', limit=30)):.2f} s")
        print(f"  the whole command           {command(store, 'history', 'd1'):.2f} s")
        print(f"  reports.history, one model  {best(lambda: history.history(store, 'm1', limit=30)):.2f} s")
        one = Path(folder) / "history.parquet"
        pq.write_table(pa.concat_tables([pq.read_table(path) for path in history.files(store)]), one)
        alone = f"SELECT * FROM '{one}' WHERE dataset = 'd1' ORDER BY finished DESC"
        print(f"  DuckDB, one Parquet file    {best(lambda: duckdb.sql(alone).fetchall()):.2f} s")


if __name__ == "__main__":
    main()
