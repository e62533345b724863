"""The recorded evaluators against the recorded behaviour of OpenCompass."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from evaluators.base import Design, Evaluator, Rating
from evaluators.metrics import metrics_of
from evaluators.rated import Rated
from evaluators.recorded import RECORDED
from leaderflow.core import statistics as s
from leaderflow.core.errors import LeaderflowError
from leaderflow.core.registry import build, known
from leaderflow.core.types import Item
from tests.golden import data_dir, golden, run_cases

pytestmark = pytest.mark.golden

Case = dict[str, Any]


def excepted(case: Case) -> str | None:
    """Why a recorded result is not ours. Looks at the shape of a case, never at its id or its texts."""
    given, expected = case["input"], case.get("expected", {})
    lengths = {len(v) for v in given.values() if isinstance(v, list)}
    if case["evaluator"].endswith("humaneval.HumanEvalEvaluator") and "expected_error" in case:
        return "the official harness refuses a subset of the problems; ours scores what was asked"
    if "expected" in case and "error" not in (expected if isinstance(expected, dict) else {}):
        if lengths == {0}:
            return "an empty set has no score: refused"
        if len(lengths) > 1:
            return "predictions and references of different length are refused, never cut to the shorter"
        if case.get("n", 1) > 1 and case["evaluator"].endswith("hf_evaluator.AccEvaluator"):
            return "an evaluator without details reports its last run alone; ours is the mean of all runs"
    return None


def inputs(given: Case) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """Predictions, references and rows of a case; likelihood evaluators read their numbers from columns."""
    if "predictions" not in given:
        rows = [dict(zip(given, values, strict=True)) for values in zip(*given.values(), strict=True)]
        return [""] * len(rows), None, rows
    rows = given.get("test_set")
    if all(str(task).startswith("HumanEval/") for task in given.get("references") or [None]):
        rows = [problems()[task] for task in given["references"]]  # the recorded evaluator brings the problems along
    if "origin_prompt" in given:
        rows = [{"origin_prompt": text} for text in given["origin_prompt"]]
    return given["predictions"], given.get("references", given.get("gold")), rows


@cache
def problems() -> Mapping[str, Case]:
    """The rows of HumanEval by task id."""
    with (data_dir() / "HumanEval" / "HumanEval.jsonl").open(encoding="utf-8") as lines:
        return {row["task_id"]: row for row in map(json.loads, lines)}


def outcome(case: Case) -> tuple[dict[str, float], list[Any]]:
    """Metrics and ratings of a case, as our evaluator of that name sees it."""
    given = case["input"]
    if case["method"] == "function":
        n, c, k = given["n"], given["c"], given["k"]
        tails = [s.g_pass_at_k(n, c, k, t) for t in given["thresholds"]]
        return {"pass_at_k": s.pass_at_k(n, c, k), "mg_pass_at_k": s.mg_pass_at_k(n, c, k), "g_pass_at_k": tails}, []
    evaluator = build("evaluator", {"type": RECORDED[case["evaluator"]]} | case["kwargs"])
    predictions, references, rows = inputs(given)
    ratings = evaluator.rate(predictions, references, rows)
    if case["method"] == "evaluate":
        return over_repeats(evaluator, ratings, case["n"], case["k"]), []
    return evaluator.combine(ratings), ratings


def over_repeats(evaluator: Evaluator, ratings: list[Rating], n: int, k: int | list[int]) -> dict[str, float]:
    """Our metrics over n runs laid one after the other, under the recorded names.

    Recorded: with one k above 1, G-Pass@1 is also reported (it is pass@1), and mG-Pass@1, an empty sum.
    """
    ks = [k] if isinstance(k, int) else k
    size = len(ratings) // n
    evaluator.design = Design(n=n, k=tuple(ks))
    rated = Rated(evaluator)
    rated.add([Item(str(i % size), i // size, "ok", "", "", {}, place=i % size) for i in range(len(ratings))], ratings)
    found = {m.name: m.value or 0.0 for m in metrics_of(evaluator, rated, lambda: iter([""] * len(ratings)))}
    if n > 1:
        found |= dict.fromkeys([evaluator.metric, f"{evaluator.metric} ({n} runs average)"], found[f"avg@{n}"])
    if 1 in ks and max(ks) > 1:
        found |= {f"G-Pass@1_{t}": found["pass@1"] for t in (0.0, 0.25, 0.5, 0.75, 1.0)} | {"mG-Pass@1": 0.0}
    return found


def check(case: Case) -> str | None:
    """None, or what differs."""
    expected = case.get("expected", {})
    if case["evaluator"] not in RECORDED and case["method"] != "function":
        return f"{case['evaluator']} is not registered"
    if case["method"] != "function" and RECORDED[case["evaluator"]] not in known("evaluator"):
        return f"{case['evaluator']} is not registered"
    try:
        metrics, ratings = outcome(case)
    except LeaderflowError as exc:
        return None if "expected_error" in case or "error" in expected else f"refused: {exc}"
    if "expected_error" in case or (isinstance(expected, dict) and "error" in expected):
        return f"no error, but {metrics}"
    if isinstance(expected, float):
        expected = {next(iter(metrics)): expected}
    for name, value in expected.items():
        if name.startswith("ds/") or (isinstance(value, list) and case["method"] == "score"):
            continue  # one subdivision only, and lists are shown nowhere
        if not same(metrics.get(name), value):
            return f"{name}: {metrics.get(name)} instead of {value}"
    return details(case.get("expected_details"), ratings)


def details(recorded: Any, ratings: list[Any]) -> str | None:
    """Compare right and wrong of every sample, where both say it."""
    lines = list(recorded.values()) if isinstance(recorded, dict) else recorded or []
    if len(lines) != len(ratings):
        return None
    for position, (line, rating) in enumerate(zip(lines, ratings, strict=True)):
        verdict = line.get("correct", line.get("is_correct"))
        if isinstance(verdict, bool) and rating.correct is not None and verdict != rating.correct:
            return f"sample {position}: {rating.correct} instead of {verdict}"
    return None


def same(found: Any, expected: Any) -> bool:
    """Equal within 1e-6, lists element by element, NaN equal to NaN or null."""
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return found is None or math.isnan(found)
    return isinstance(found, int | float) and math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-6)


def test_evaluators_equal_the_recorded_ones() -> None:
    run_cases("evaluators.jsonl", golden("evaluators.jsonl"), check, excepted)
