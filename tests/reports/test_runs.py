from __future__ import annotations

from pathlib import Path

import polars
import pytest

import leaderflow
from leaderflow import load_run
from leaderflow.core.errors import UsageError
from leaderflow.core.store import Store
from tests.reports.stored import cell, run


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    run(store, 1, [cell(store, "m", "d", {"s1": 1.0, "s2": 0.0, "s3": None}), cell(store, "m", "e", {"s1": 1.0})])
    return store


def test_a_run_gives_tables(store: Store) -> None:
    loaded = load_run()
    assert (loaded.state, loaded.cells) == ("completed", ["m:d", "m:e"])
    assert "2 cells" in repr(loaded)
    assert loaded.summary().num_rows == 2
    samples = loaded.samples("m:d").to_pylist()
    assert [(s["sample_id"], s["correct"], s["extracted"], s["row"]) for s in samples] == [
        ("s1", True, '"1.0"', '{"q": "question s1"}'),
        ("s2", False, '"0.0"', '{"q": "question s2"}'),
        ("s3", None, '"None"', '{"q": "question s3"}'),
    ]
    assert loaded.samples().column_names[:3] == ["model", "dataset", "sample_id"]
    assert loaded.answers().num_rows == 4
    assert loaded.prompts("m:e").num_rows == 0
    assert loaded.metrics().column("value").to_pylist() == [50.0, 100.0]
    assert loaded.spec["datasets"] == [{"abbr": "d"}, {"abbr": "e"}]


def test_tables_go_on_in_pandas_and_polars(store: Store) -> None:
    loaded = load_run("latest", str(store.files.root))
    assert loaded.samples().to_pandas().groupby("dataset").score.mean().to_dict() == {"d": 0.5, "e": 1.0}
    frame = polars.from_arrow(loaded.samples())
    assert isinstance(frame, polars.DataFrame)
    assert frame.filter(polars.col("correct")).height == 2


def test_names_that_do_not_exist(store: Store) -> None:
    with pytest.raises(UsageError, match="no cell m:dd; did you mean 'm:d'"):
        load_run().samples("m:dd")
    with pytest.raises(UsageError, match="no run named 'nope'"):
        load_run("nope")
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        leaderflow.nope  # noqa: B018
