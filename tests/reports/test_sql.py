from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderflow.core.errors import UsageError
from leaderflow.core.store import Store
from reports.sql import VIEWS, query
from tests.reports.stored import cell, run, store_at


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two runs: model m on d and e, then m on d again, with the same artifacts."""
    store = store_at(tmp_path)
    d = cell(store, "m", "d", {"s1": 1.0, "s2": 0.0, "s3": None})
    run(store, 1, [d, cell(store, "m", "e", {"s1": 1.0})], suite="nightly")
    run(store, 2, [d])
    return store


def rows(store: Store, text: str, only: str | None = None) -> list[list[object]]:
    return [list(row.values()) for row in query(store, text, only).to_pylist()]


def test_every_view_can_be_asked(store: Store) -> None:
    assert rows(store, "SELECT models, datasets, suite FROM runs ORDER BY run") == [
        [["m"], ["d", "e"], "nightly"],
        [["m"], ["d"], None],
    ]
    assert rows(store, 'SELECT dataset, value, n_failed, is_group FROM cells WHERE "leading" ORDER BY run, dataset') == [
        ["d", 50.0, 1, False],
        ["e", 100.0, 0, False],
        ["d", 50.0, 1, False],
    ]
    wanted = [["s1", True, '"1.0"', '"1"'], ["s2", False, '"0.0"', '"1"'], ["s3", None, '"None"', '"1"']]
    text = "SELECT sample_id, correct, extracted, reference FROM samples WHERE dataset = 'd' ORDER BY 1"
    assert rows(store, text, "latest") == wanted
    assert rows(store, "SELECT count(*), avg(score) FROM Samples") == [[7, 0.6]]
    assert rows(store, "SELECT output FROM answers WHERE dataset = 'e'") == [["m says 1.0"]]


def test_a_sample_is_one_row_whatever_the_shards(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    whole, *halves = [cell(store, "m", "d", dict.fromkeys(ids, 1.0)) for ids in (("s1", "s2"), ("s1",), ("s2",))]
    whole.tables["extracted"] = [half.tables["extracted"][0] for half in halves]
    run(store, 1, [whole])
    assert rows(store, "SELECT sample_id, extracted FROM samples ORDER BY 1") == [["s1", '"1.0"'], ["s2", '"1.0"']]


def test_views_go_together(store: Store) -> None:
    text = "SELECT r.suite, count(*) FROM samples s JOIN runs r USING (run) GROUP BY ALL ORDER BY 1 NULLS LAST"
    assert rows(store, text) == [["nightly", 4], [None, 3]]
    assert rows(store, "WITH samples AS (SELECT 1 AS x) SELECT * FROM samples") == [[1]]
    assert {row[0] for row in rows(store, "DESCRIBE cells")} >= {"run", "value", "version", "note"}


def test_one_run_alone(store: Store) -> None:
    assert rows(store, "SELECT count(*) FROM cells", "latest~1") == [[2]]
    assert rows(store, "SELECT count(*) FROM runs", "latest") == [[1]]


def test_a_file_that_is_gone_is_left_out(store: Store) -> None:
    (path,) = {ref.path for ref in _entry(store, "m:e")}
    (store.files.root / path).unlink()
    assert rows(store, "SELECT DISTINCT dataset FROM samples") == [["d"]]


def _entry(store: Store, name: str):  # type: ignore[no-untyped-def]
    from leaderflow.core.manifest import Manifest

    return Manifest.load(store, "latest~1").cells[name].tables["scores"]


def test_an_empty_store(tmp_path: Path) -> None:
    for view in VIEWS:
        assert rows(store_at(tmp_path), f"SELECT count(*) FROM {view}") == [[0]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("DROP VIEW samples", "the store is only read: DROP is refused"),
        ("INSERT INTO runs VALUES (1)", "INSERT is refused"),
        ("CREATE TABLE x AS SELECT 1", "CREATE is refused"),
        ("COPY (SELECT 1) TO '/tmp/x'", "COPY is refused"),
        ("ATTACH 'x.db'", "ATTACH is refused"),
        ("SET enable_external_access = true", "SET is refused"),
        ("UPDATE cells SET value = 100", "UPDATE is refused"),
        ("INSTALL httpfs", "is refused"),
        ("SELECT 1; DROP TABLE x", "one SELECT at a time"),
        ("", "this is 0 statements"),
        ("SELECT * FROM smaples", "no view 'smaples' among runs, cells, samples, answers; did you mean 'samples'"),
        ("SELECT nope FROM runs", "nope"),
        ("SELEC 1", "syntax error"),
        ("SELECT * FROM read_text('/etc/hostname')", "disabled by configuration"),
        ("SELECT * FROM '/etc/hostname'", "hostname"),
        ("SELECT * FROM store", "no view 'store'"),
    ],
)
def test_anything_but_a_select_over_the_views_is_one_line(store: Store, text: str, says: str) -> None:
    before = {path: path.read_bytes() for path in store.files.root.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=says) as refused:
        query(store, text)
    assert "\n" not in str(refused.value)
    assert {path: path.read_bytes() for path in store.files.root.rglob("*") if path.is_file()} == before


def test_a_manifest_is_not_validated_but_read(store: Store) -> None:
    path = next((store.files.root / "runs").glob("*/manifest.json"))
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"added_later": 1}))
    assert rows(store, "SELECT count(*) FROM runs") == [[2]]
