from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaderflow.core.errors import UsageError
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from reports import history
from tests.reports.stored import cell, run, store_at


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_at(tmp_path)


def share(right: int, n: int = 10) -> dict[str, float | None]:
    return {f"s{i}": float(i < right) for i in range(n)}


def manifest(store: Store, number: int) -> Manifest:
    """Return a run without its files: only its id, times and suite go into the history."""
    text = f"2030-01-01T00:00:{number % 60:02d}+00:00"
    return Manifest(run=f"r{number:05d}", state="completed", started=text, finished=text, spec={}, suite="nightly")


def test_runs_are_listed_newest_first_with_the_best_so_far(store: Store) -> None:
    for number, right in enumerate((5, 8, 7), 1):
        run(store, number, [cell(store, "m", "d", share(right)), cell(store, "other", "d", share(right - 2))])
    found = history.history(store, "d")
    assert [(r["model"], r["value"]) for r in found["rows"]][:2] == [("m", 70.0), ("other", 50.0)]
    assert [row["finished"] for row in found["rows"]] == sorted((row["finished"] for row in found["rows"]), reverse=True)
    (best,) = found["best"]
    assert (best["model"], best["value"], best["runs"]) == ("m", 80.0, 6)
    assert best["run"].startswith("20300101-02")
    (own,) = history.history(store, "other")["best"]
    assert (own["model"], own["value"]) == ("other", 60.0)


def test_another_version_is_another_series_and_partial_results_are_never_the_best(store: Store) -> None:
    run(store, 1, [cell(store, "m", "d", share(5))])
    run(store, 2, [cell(store, "m", "d", share(9, n=9))])
    run(store, 3, [cell(store, "m", "d", share(5) | {"s9": None, "s8": None})])
    found = history.history(store, "m")
    assert [row["partial"] for row in found["rows"]] == [True, False, False]
    assert {row["value"] for row in found["best"]} == {50.0, 100.0}
    assert len({row["version"] for row in found["best"]}) == 2


def test_equal_values_keep_the_first_run(store: Store) -> None:
    first = run(store, 1, [cell(store, "m", "d", share(5))])
    run(store, 2, [cell(store, "m", "d", share(5))])
    assert history.history(store, "m")["best"][0]["run"] == first.run


def test_a_suite_narrows(store: Store) -> None:
    run(store, 1, [cell(store, "m", "d", share(5))], suite="nightly")
    run(store, 2, [cell(store, "m", "d", share(6))])
    assert [row["value"] for row in history.history(store, "m", "nightly")["rows"]] == [50.0]
    with pytest.raises(UsageError, match="no run of suite 'weekly' has a model or dataset 'm'"):
        history.history(store, "m", "weekly")


def test_what_is_not_there(store: Store) -> None:
    with pytest.raises(UsageError, match="no finished run in"):
        history.history(store, "m")
    run(store, 1, [cell(store, "model", "d", share(5))])
    with pytest.raises(UsageError, match="'modle'; did you mean 'model'"):
        history.history(store, "modle")


def test_files_are_merged_and_nothing_is_lost(store: Store) -> None:
    summary = store.read(run(store, 0, [cell(store, "m", "d", share(5))]).summary)  # type: ignore[arg-type]
    for number in range(1, history.FAN + 3):
        history.append(store, manifest(store, number), summary)
    assert sorted(path.name[0] for path in history.files(store)) == ["0", "0", "0", "1"]
    rows = history.history(store, "m")["rows"]
    assert len({row["run"] for row in rows}) == len(rows) == history.FAN + 3


def test_a_run_that_stands_in_two_files_counts_once(store: Store) -> None:
    run(store, 1, [cell(store, "m", "d", share(5))])
    (path,) = history.files(store)
    path.with_name("1-copy-1.parquet").write_bytes(path.read_bytes())
    assert len(history.history(store, "m")["rows"]) == 1


def test_runs_that_end_together_lose_nothing(store: Store) -> None:
    summary = store.read(run(store, 0, [cell(store, "m", "d", share(5))]).summary)  # type: ignore[arg-type]

    def some(start: int) -> None:
        for number in range(start, start + 50):
            history.append(store, manifest(store, number), summary)

    threads = [threading.Thread(target=some, args=(start,)) for start in (100, 200, 300)]
    for thread in threads:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in threads):
        seen = max(seen, len(history.history(store, "m")["rows"]))
    for thread in threads:
        thread.join()
    assert 1 <= seen <= 151
    assert len(history.history(store, "m")["rows"]) == 151


def test_files_have_the_declared_schema(store: Store) -> None:
    run(store, 1, [cell(store, "m", "d", share(5))])
    (path,) = history.files(store)
    assert pq.read_schema(path).equals(history.HISTORY)
    assert pq.read_table(path).column("finished").type == pa.timestamp("ms")
