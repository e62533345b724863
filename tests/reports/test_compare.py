from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import UsageError
from leaderflow.core.store import Store
from reports.compare import compare
from reports.comparison import CellComparison
from tests.reports.stored import PROTOCOL, Scores, cell, run, store_at


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_at(tmp_path)


def scores(n: int, lost: int = 0, gained: int = 0, *, after: bool = False) -> dict[str, float | None]:
    """Return `n` scores before or after `lost` became wrong and `gained` became right; of the others every second is right."""
    found: dict[str, float | None] = {}
    for i in range(n):
        if i < lost + gained:
            found[f"s{i}"] = float((i < lost) != after)
        else:
            found[f"s{i}"] = float(i % 2)
    return found


def one(store: Store, left: Scores, right: Scores, **options: Any) -> CellComparison:
    run(store, 1, [cell(store, "m", "d", left, **options)])
    run(store, 2, [cell(store, "m", "d", right, **options)])
    (found,) = compare(store, "latest~1", "latest").cells
    return found


def test_a_planted_regression_is_found(store: Store) -> None:
    found = one(store, scores(1000, 45, 15), scores(1000, 45, 15, after=True))
    assert (found.verdict, found.test, found.n) == ("worse", "exact McNemar", 1000)
    assert found.difference == pytest.approx(-3.0)
    assert found.changes == {"right→wrong": 45, "wrong→right": 15}
    assert found.regressed(2.5)
    assert not found.regressed(3.5)
    assert len(found.flips) == 60
    flip = found.flips[0]
    assert (flip.change, flip.left, flip.right) == ("right→wrong", ["m says 1.0"], ["m says 0.0"])
    assert (flip.row, flip.reference, flip.left_extracted) == ({"q": f"question {flip.sample_id}"}, "1", ["1.0"])


def test_the_other_way_round_is_better(store: Store) -> None:
    found = one(store, scores(1000, 45, 15, after=True), scores(1000, 45, 15))
    assert (found.verdict, found.regressed(0)) == ("better", False)


def test_noise_is_no_difference(store: Store) -> None:
    found = one(store, scores(1000, 18, 15), scores(1000, 18, 15, after=True))
    assert found.verdict == "no difference shown"
    assert found.smallest is not None
    assert 1.0 < found.smallest < 2.0
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < 0 < found.ci_high


def test_shuffled_extended_and_partly_failed_runs_give_the_same_verdict(store: Store) -> None:
    left, right = scores(1000, 45, 15), scores(1000, 45, 15, after=True)
    shuffled = list(right.items())
    random.Random(3).shuffle(shuffled)
    wanted = one(store, left, right)
    run(store, 3, [cell(store, "m", "d", dict(shuffled))])
    run(store, 4, [cell(store, "m", "d", {**{f"new{i}": 1.0 for i in range(500)}, **dict(shuffled)})])
    failed: dict[str, float | None] = dict(shuffled) | {"s990": None, "s991": None, "s3": None}
    run(store, 5, [cell(store, "m", "d", failed)])
    names = ("verdict", "difference", "p_value", "changes", "n")
    (again,) = compare(store, "latest~4", "latest~2").cells
    (more,) = compare(store, "latest~4", "latest~1").cells
    for found in (again, more):
        assert [getattr(found, name) for name in names] == [getattr(wanted, name) for name in names]
    assert more.why == "500 on one side only"
    (partly,) = compare(store, "latest~4", "latest").cells
    assert (partly.verdict, partly.n, partly.changes["newly failed"]) == ("worse", 997, 3)
    assert partly.why == "3 not answered on both sides"
    assert partly.changes["right→wrong"] == 44


def test_scores_by_other_code_are_told(store: Store) -> None:
    same = scores(20)
    assert not one(store, same, same).differences
    run(store, 3, [cell(store, "m", "d", same, code="newer")])
    (found,) = compare(store, "latest~1", "latest").cells
    assert ["leaderflow rescore 20300101-020000" in line for line in found.differences] == [True]


def test_graded_scores(store: Store) -> None:
    rng = random.Random(1)
    left = {f"s{i}": rng.random() * 0.8 for i in range(300)}
    right = {i: s + 0.1 * rng.random() for i, s in left.items()}
    found = one(store, left, right, binary=False)
    assert (found.verdict, found.test, found.changes) == ("better", "sign-flip permutation", {"higher": 300})


def test_samples_of_one_cluster_count_once(store: Store) -> None:
    left, right = scores(40, 20, 0), scores(40, 20, 0, after=True)
    by_half = {f"s{i}": "ab"[i >= 20] for i in range(40)}
    found = one(store, left, right, cluster=by_half)
    assert (found.verdict, found.test) == ("no difference shown", "sign-flip permutation")


def test_a_row_that_changed_under_its_id_is_no_pair(store: Store) -> None:
    run(store, 1, [cell(store, "m", "d", scores(20))])
    run(store, 2, [cell(store, "m", "d", scores(20), rows={"s0": '{"q": "another question"}'})])
    (found,) = compare(store, "latest~1", "latest").cells
    assert (found.n, found.why) == (19, "1 with the same id but another row")


def test_holm_runs_over_the_datasets_of_a_model(store: Store) -> None:
    alone = one(store, scores(200, 16, 5), scores(200, 16, 5, after=True))
    assert alone.verdict == "worse"
    quiet = [f"q{i}" for i in range(5)]
    for number, after in ((3, False), (4, True)):
        others = [cell(store, "m", name, scores(200)) for name in quiet]
        run(store, number, [cell(store, "m", "d", scores(200, 16, 5, after=after)), *others])
    found = compare(store, "latest~1", "latest").cells
    assert found[0].p_adjusted == pytest.approx(6 * (alone.p_value or 0))
    assert {c.verdict for c in found} == {"no difference shown"}


def test_two_models_of_one_run(store: Store) -> None:
    a, b = cell(store, "a", "d", scores(1000, 45, 15)), cell(store, "b", "d", scores(1000, 45, 15, after=True))
    made = run(store, 1, [a, b])
    found = compare(store, "latest:a", f"{made.run}:b")
    assert (found.cells[0].left, found.cells[0].right, found.cells[0].verdict) == ("a:d", "b:d", "worse")
    assert 'models.abbr: "a" != "b"' in found.cells[0].differences
    assert {c.difference for c in compare(store, "latest", "latest").cells} == {0.0}


def test_what_cannot_be_compared_says_why(store: Store) -> None:
    other = {**PROTOCOL, "infer_cfg": {"inferencer": {"type": "PPLInferencer"}}}
    run(store, 1, [cell(store, "m", name, scores(10)) for name in ("same", "asked", "rows", "gone", "dead")])
    dead = dict.fromkeys(scores(10))
    entries = [
        cell(store, "m", "same", scores(10)),
        cell(store, "m", "asked", scores(10), protocol=other),
        cell(store, "m", "rows", {f"t{i}": 1.0 for i in range(5)}),
        cell(store, "m", "new", scores(10)),
        cell(store, "m", "dead", dead),
    ]
    made = run(store, 2, entries)
    found = {c.dataset: c for c in compare(store, "latest~1", "latest").cells}
    assert found["same"].verdict == "no difference shown"
    assert {c.verdict for name, c in found.items() if name != "same"} == {"not comparable"}
    assert 'infer_cfg.inferencer.type: "GenInferencer" != "PPLInferencer"' in (found["asked"].why or "")
    assert found["rows"].why == "no common samples"
    assert found["gone"].why == f"run {made.run} has no dataset 'gone' of this model"
    assert (found["new"].why or "").endswith("has no dataset 'new' of this model")
    assert "nothing was answered" in (found["dead"].why or "")


def test_nothing_in_common_is_one_line(store: Store) -> None:
    run(store, 1, [cell(store, "m", "d", scores(5))])
    run(store, 2, [cell(store, "m", "d", {"t1": 1.0})])
    run(store, 3, [cell(store, "x", "d", scores(5)), cell(store, "y", "d", scores(5))])
    with pytest.raises(UsageError, match=r"nothing to compare .*: no common samples"):
        compare(store, "latest~2", "latest~1")
    with pytest.raises(UsageError, match=r"no model in common .*say which to compare, as RUN:MODEL"):
        compare(store, "latest~1", "latest")
    with pytest.raises(UsageError, match="no run named 'nope'"):
        compare(store, "latest", "nope")
    with pytest.raises(UsageError, match="no run named 'latest~3'"):
        compare(store, "latest", "latest~3")
    with pytest.raises(UsageError, match="has no model 'xx'; it has: x, y"):
        compare(store, "latest:x", "latest:xx")


def test_a_metric_that_is_no_mean_is_compared_by_its_scores(store: Store) -> None:
    entry = cell(store, "m", "d", scores(100))
    table = store.read(entry.tables["metrics"][0]).to_pylist()
    from leaderflow.core.artifacts import METRICS, table_of
    from tests.reports.stored import write

    metrics = table_of(METRICS, [{**table[0], "metric": "bleu", "value": 12.0}])
    scored = store.read(entry.tables["scores"][0])
    entry.tables["metrics"] = [write(store, "score", {"scores": scored, "metrics": metrics})["metrics"]]
    run(store, 1, [entry])
    (found,) = compare(store, "latest", "latest").cells
    assert (found.metric, found.scale, found.left_value) == ("mean score", 1.0, 0.5)
