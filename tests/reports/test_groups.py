from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from leaderflow.core.artifacts import METRICS, table_of
from leaderflow.core.specs import Summarizer, SummaryGroup
from leaderflow.core.statistics import mean_stderr
from reports.stage import Cell, summarize

Row = dict[str, Any]


def cell(dataset: str, value: float | None, *others: Row, model: str = "m", n: int = 10, **changes: Any) -> Cell:
    first = {"metric": "accuracy", "value": value, "scale": 100.0, "stderr": changes.pop("stderr", 2.0), "higher_is_better": True}
    first |= changes.pop("first", {})
    failed = changes.pop("failed", 0)
    counts = {"n": n, "n_scored": n - failed, "n_failed": failed}
    rows = [first, *({"scale": 100.0, "higher_is_better": True, **row} for row in others)]
    return Cell(model, dataset, table_of(METRICS, rows), counts, changes.pop("version", f"v-{dataset}"), "gen", **changes)


def rows(cells: list[Cell], *groups: Mapping[str, Any], dataset_abbrs: list[Any] | None = None) -> list[Row]:
    summarizer = Summarizer.model_validate({"summary_groups": list(groups), "dataset_abbrs": dataset_abbrs})
    found: list[Row] = summarize(cells, summarizer).to_pylist()
    return found


def group(cells: list[Cell], **config: Any) -> Row:
    found = [row for row in rows(cells, {"name": "G", **config}) if row["group"]]
    assert len(found) == 1
    return found[0]


ABC = [cell("a", 10.0, stderr=1.0), cell("b", 20.0, stderr=2.0), cell("c", 40.0, stderr=3.0)]


@pytest.mark.parametrize(
    ("config", "metric", "value", "stderr"),
    [
        ({}, "naive_average", 70 / 3, 14**0.5 / 3),
        ({"weights": {"a": 1, "b": 2, "c": 3}}, "weighted_average", 170 / 6, (1 + 16 + 81) ** 0.5 / 6),
        ({"weights": {"a": 1, "b": 1}}, "weighted_average", 15, 5**0.5 / 2),
        ({"sum": True}, "sum", 70, 14**0.5),
        ({"sum": True, "weights": {"a@accuracy": 2}}, "sum", 20, 2),
        ({"metric": "total", "sum": True}, "total", 70, 14**0.5),
        ({"std": True}, "standard_deviation", 12.472, None),
        ({"harmonic_mean": True}, "harmonic_mean", 120 / 7, None),
        ({"transforms": {"a": "100 - x", "b": "x*2"}}, "naive_average", 170 / 3, 26**0.5 / 3),
    ],
)
def test_ways_of_combining(config: Row, metric: str, value: float, stderr: float | None) -> None:
    row = group(ABC, subsets=["a", "b", "c"], **config)
    assert (row["metric"], row["value"]) == (metric, pytest.approx(value, rel=1e-4))
    assert row["stderr"] == pytest.approx(stderr, rel=1e-6) if stderr else row["stderr"] > 0
    assert (row["n"], row["note"], row["partial"], row["mode"]) == (30, None, False, "gen")


def test_the_error_of_a_harmonic_mean_is_its_slope() -> None:
    row = group(ABC, subsets=["a", "b", "c"], harmonic_mean=True)
    slopes = [(120 / 7) ** 2 / (3 * v * v) for v in (10, 20, 40)]
    assert row["stderr"] == pytest.approx(sum((d * s) ** 2 for d, s in zip(slopes, (1, 2, 3), strict=True)) ** 0.5, rel=1e-5)


def test_each_mean_has_its_own_error() -> None:
    few, many = [1.0] * 5 + [0.0] * 5, [1.0] * 900 + [0.0] * 100
    small = cell("small", 0.5, stderr=(0.25 / 9) ** 0.5, first={"scale": 1.0})
    large = cell("large", 0.9, stderr=(0.09 / 999) ** 0.5, first={"scale": 1.0})
    assert mean_stderr(few) == pytest.approx((0.25 / 9) ** 0.5)
    assert mean_stderr(many) == pytest.approx((0.09 / 999) ** 0.5)
    plain = group([small, large], subsets=["small", "large"])
    assert (round(plain["value"], 5), round(plain["stderr"], 5)) == (0.7, 0.08347)
    weighted = group([small, large], subsets=["small", "large"], weights={"small": 10, "large": 1000})
    assert (round(weighted["value"], 5), round(weighted["stderr"], 5)) == (0.89604, 0.00954)


def test_intervals_end_where_the_metric_ends() -> None:
    high = group([cell("a", 99.0), cell("b", 99.0)], subsets=["a", "b"])
    assert (high["ci_high"], high["scale"]) == (100.0, 100.0)
    low = group([cell("a", 1.0), cell("b", 1.0)], subsets=["a", "b"])
    assert low["ci_low"] == 0.0
    total = group([cell("a", 99.0), cell("b", 99.0)], subsets=["a", "b"], sum=True)
    assert (total["scale"], total["ci_high"] > 200) == (None, True)
    assert group([cell("a", 99.0), cell("b", 99.0, stderr=None)], subsets=["a", "b"])["ci_low"] is None


def test_members_without_any_spread_give_no_certainty() -> None:
    row = group([cell("a", 0.0, stderr=0.0), cell("b", 0.0, stderr=0.0)], subsets=["a", "b"])
    assert (row["value"], row["stderr"], row["ci_low"], row["ci_high"]) == (0.0, 0.0, None, None)


def test_a_missing_member_is_named_and_nothing_is_shown() -> None:
    row = group([cell("a", 10.0), cell("b", None, failed=10)], subsets=["a", "b", "c"])
    assert (row["value"], row["partial"], row["note"]) == (None, True, "1 of 3 members, missing: b, c")
    row = group([cell("a", 10.0), cell("b", 20.0)], subsets=[["a", "f1"], ["b", "accuracy"]])
    assert (row["value"], row["note"]) == (None, "1 of 2 members, missing: a (f1)")
    many = group([cell("a", 10.0)], subsets=["a", *(f"d{i}" for i in range(9))])
    assert many["note"] == "1 of 10 members, missing: d0, d1, d2, d3, d4 and 4 more"


def test_a_family_that_is_not_whole_says_how_much_of_it_is_there() -> None:
    row = group([cell("a", 10.0), cell("b", 30.0)], subsets=["a", "b"], expected=57)
    assert (row["value"], row["note"]) == (20.0, "2 of 57 members")


def test_a_family_of_one_is_no_group() -> None:
    assert not [row for row in rows([cell("a", 1.0, group="fam")]) if row["group"]]
    (row,) = [row for row in rows([cell("a", 1.0, group="fam"), cell("b", 3.0, group="fam")]) if row["group"]]
    assert (row["dataset"], row["value"]) == ("fam", 2.0)


def test_metrics_of_different_units_are_not_mixed() -> None:
    loss = cell("b", 2.0, first={"metric": "ppl", "scale": None, "higher_is_better": False})
    row = group([cell("a", 50.0), loss], subsets=["a", "b"])
    assert row["value"] is None
    assert "different units: accuracy (0 to 100), ppl (no bound, lower is better)" in row["note"]
    assert group([cell("a", 50.0), loss], subsets=["a", "b"], transforms={"b": "100 - 10*x"})["value"] == 65.0


def test_a_mean_that_does_not_exist_says_why() -> None:
    row = group([cell("a", 0.0), cell("b", 1.0)], subsets=["a", "b"], harmonic_mean=True)
    assert (row["value"], row["note"]) == (None, "harmonic mean does not exist: a harmonic mean needs positive values")
    row = group([cell("a", 0.0)], subsets=["a"], transforms={"a": "1/x"})
    assert row["value"] is None
    assert row["note"]


def test_nested_groups_in_any_order_share_their_datasets() -> None:
    found = rows(ABC, {"name": "G2", "subsets": ["G1", "a"]}, {"name": "G1", "subsets": ["a", "b"]})
    outer, inner = [row for row in found if row["group"]]
    assert (outer["dataset"], outer["value"], inner["value"]) == ("G2", 12.5, 15.0)
    assert outer["stderr"] == pytest.approx(((0.75 * 1) ** 2 + (0.25 * 2) ** 2) ** 0.5)
    assert outer["n"] == 20


def test_shared_metrics_follow_the_groups_own() -> None:
    more = {"metric": "f1", "value": 4.0}, {"metric": "own", "value": 1.0}
    cells = [cell("a", 10.0, *more), cell("b", 20.0, {"metric": "f1", "value": 8.0})]
    found = [(r["metric"], r["value"]) for r in rows(cells, {"name": "G", "subsets": ["a", "b"]}) if r["group"]]
    assert found == [("naive_average", 15.0), ("f1", 6.0)]


def test_the_summarizer_orders_and_says_what_it_does_not_find() -> None:
    cells = [cell("a", 10.0, {"metric": "f1", "value": 4.0}, model=m) for m in ("m1", "m2")]
    found = rows(cells, {"name": "G", "subsets": ["a"]}, dataset_abbrs=["G", ["a", "f1"], ["a", "nope"], "aa"])
    shown = [(r["dataset"], r["metric"]) for r in found if r["model"] == "m1"]
    assert shown == [("G", "naive_average"), ("G", "f1"), ("a", "f1"), ("a", "nope"), ("aa", "-")]
    assert found[6]["note"] == "has no metric 'nope'; it has accuracy, f1"
    assert found[8]["note"].startswith("the run has no dataset or group of this name")
    assert len(found) == 10


def test_a_groups_version_is_that_of_its_members() -> None:
    def version(*versions: str, **config: Any) -> str:
        cells = [cell(name, 1.0, version=v) for name, v in zip("ab", versions, strict=True)]
        found: str = group(cells, subsets=["a", "b"], **config)["version"]
        return found

    assert version("1", "2") == version("1", "2")
    assert len({version("1", "2"), version("1", "3"), version("1", "2", sum=True)}) == 3


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"transforms": {"a": "open('x')"}}, "not an expression in x"),
        ({"transforms": {"z": "x"}}, "transforms names 'z', which is not among the subsets"),
        ({"weights": {"a": 1, "z": 1}}, "weights names 'z'"),
        ({"weights": {"a": 0}}, "the weights add up to nothing"),
        ({"weights": {"a": -1, "b": 2}}, "a mean has no negative weights"),
        ({"weights": {"a": float("nan")}}, "finite"),
        ({"subsets": [["a", "f1", "x"]]}, "name, or a pair"),
    ],
)
def test_a_wrong_group_is_refused_when_the_spec_is_loaded(config: Row, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        SummaryGroup.model_validate({"name": "G", "subsets": ["a", "b"], **config})


def test_groups_made_of_each_other_are_refused() -> None:
    summarizer = Summarizer(summary_groups=[SummaryGroup(name=n, subsets=[m]) for n, m in (("g", "h"), ("h", "g"))])
    with pytest.raises(ValueError, match="made of each other: "):
        summarizer.in_order({"a"})
    with pytest.raises(ValueError, match="two summary groups are named 'g'"):
        Summarizer(summary_groups=[SummaryGroup(name="g", subsets=["a"])] * 2).in_order({"a"})
    same = Summarizer(summary_groups=[SummaryGroup(name="a", subsets=["a", "b"])])
    assert same.in_order({"a", "b"})
