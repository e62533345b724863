from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from leaderflow.core import identity
from leaderflow.core.artifacts import SCORES, table_of
from leaderflow.core.errors import StoreError
from leaderflow.core.store import Store
from leaderflow.core.streams import Finder, TableRows, recut, tuples
from leaderflow.core.table_files import BATCH

KEY = "7" * 64


def scores(n: int) -> pa.Table:
    draw = random.Random(n)
    return table_of(
        SCORES,
        [
            {"sample_id": f"s{i}", "repeat": i % 3, "status": "ok", "score": None if 0 < i < 20_000 else draw.random()}
            | {"correct": draw.choice((True, False, None)), "detail": draw.choice((None, "é" * draw.randrange(9)))}
            for i in range(n)
        ],
    )


def cut(table: pa.Table, size: int) -> Iterator[pa.RecordBatch]:
    return (batch for start in range(0, table.num_rows, size) for batch in table.slice(start, size).to_batches())


@pytest.mark.parametrize("size", [7, 1200])
def test_rows_are_found_whatever_the_order(size: int) -> None:
    table = pa.Table.from_batches(cut(scores(1200), size))
    finder = Finder(TableRows(table), ["sample_id", "repeat"], lambda sample_id, repeat: sample_id)
    order = list(range(1200))
    for asked in (order, order[::-1], random.Random(1).sample(order, 1200)):
        for start in range(0, 1200, 300):
            part = asked[start : start + 300]
            found = finder.find({f"s{i}" for i in part} | {"nobody"})
            assert found == {f"s{i}": (i, (f"s{i}", i % 3)) for i in part}


def test_an_empty_table_holds_nothing() -> None:
    assert Finder(TableRows(scores(0)), ["sample_id"], str).find({"s0"}) == {}


def test_batches_are_cut_anew() -> None:
    table = scores(25)
    for size in (1, 4, 25, 30):
        found = list(recut(cut(table, 6), size))
        assert {batch.num_rows for batch in found[:-1]} <= {size}
        assert pa.Table.from_batches(found) == table


@pytest.mark.parametrize("rows", [0, 3, BATCH, 2 * BATCH + 1])
def test_the_same_rows_give_the_same_file_however_they_come(tmp_path: Path, rows: int) -> None:
    table = scores(rows)
    whole = Store(tmp_path / "whole").write("score", KEY, {}, {"scores": table})["scores"]
    assert whole.digest == identity.table_digest(table)
    for size in (999, BATCH + 1):
        assert Store(tmp_path / str(size)).write("score", KEY, {}, {"scores": cut(table, size)})["scores"] == whole


def test_what_fails_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from cut(scores(3 * BATCH), BATCH)
        raise ZeroDivisionError

    store = Store(tmp_path)
    with pytest.raises(ZeroDivisionError):
        store.write("score", KEY, {}, {"scores": broken()})
    with pytest.raises(StoreError, match="another schema"):
        store.write("score", KEY, {}, {"scores": iter(scores(3).select(["sample_id"]).to_batches())})
    assert store.files.names("artifacts") == []
    assert not list(tmp_path.rglob("*.tmp"))


def test_stored_rows_are_read_as_often_as_needed(tmp_path: Path) -> None:
    store, table = Store(tmp_path), scores(1100)
    refs = [store.write("score", str(i) * 64, {}, {"scores": table.slice(400 * i, 400)})["scores"] for i in range(3)]
    rows = store.rows(refs)
    for _ in range(2):
        assert list(tuples(rows, ["repeat", "sample_id"])) == [(i % 3, f"s{i}") for i in range(1100)]


def test_altered_rows_are_refused_before_any_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ref = store.write("score", KEY, {}, {"scores": scores(5)})["scores"]
    path = tmp_path / ref.path
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(StoreError, match="was altered"):
        next(store.rows([ref]).batches(["status"]))
    assert store.lookup("score", KEY) is None
    path.unlink()
    with pytest.raises(StoreError, match="cannot be read: No such file"):
        next(store.rows([ref]).batches(["status"]))
