from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from evaluators.base import Evaluator, Rating
from evaluators.corpus import matthews
from evaluators.rouge import RougeEvaluator
from evaluators.whole_set import WholeSet
from leaderflow.core.errors import DataError
from tests.evaluators.cells import answers, rows, scored, spec

HERE = __name__


class LengthEvaluator(Evaluator):
    """An evaluator of ten lines."""

    metric = "same_length"

    def observe(self, prediction: Any, reference: Any, row: Any) -> bool:
        return len(prediction) == len(reference)


class Fraction(Evaluator):
    metric = "share"
    scale = 1.0

    def observe(self, prediction: Any, reference: Any, row: Any) -> float:
        return float(prediction or 0)


class Correlation(Evaluator):
    metric = "mcc"

    def observe(self, prediction: Any, reference: Any, row: Any) -> Rating:
        return Rating(data=(prediction, reference))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        return {"mcc": 100 * matthews([r.data for r in ratings]), "nothing": math.nan}


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])


def test_an_evaluator_takes_ten_lines() -> None:
    _, scores, metrics = scored(answers("ab", "abc"), rows("xy", "xy"), spec(f"{HERE}:LengthEvaluator"))
    assert [s["correct"] for s in scores] == [True, False]
    assert metrics["same_length"]["value"] == 50.0


def test_metrics_are_in_their_own_unit() -> None:
    _, scores, metrics = scored(answers("0.5", "1", "0.25", "0.75"), rows(*"xxxx"), spec(f"{HERE}:Fraction"))
    found = metrics["share"]
    assert (found["value"], found["scale"], found["higher_is_better"]) == (0.625, 1.0, True)
    assert found["stderr"] == pytest.approx(0.161374, abs=1e-6)
    assert (scores[1]["score"], scores[1]["correct"]) == (1.0, None)


def test_corpus_metrics_get_bootstrap_intervals() -> None:
    given = ["y", "n"] * 40
    wanted = ["y", "n"] * 30 + ["n", "y"] * 10
    _, _, metrics = scored(answers(*given), rows(*wanted), spec(f"{HERE}:Correlation"))
    found = metrics["mcc"]
    assert found["value"] == pytest.approx(50.0)
    assert 25 < found["ci_low"] < 50 < found["ci_high"] < 75
    assert found["stderr"] == pytest.approx(100 * math.sqrt((1 - 0.25) / 80), rel=0.15)


def test_means_beside_corpus_metrics_have_closed_forms() -> None:
    reference = {"instruction_id_list": ["punctuation:no_comma", "startend:quotation"], "kwargs": [{}, {}]}
    _, _, metrics = scored(answers(*["a, b"] * 8), rows(*[reference] * 8), spec("IFEvaluator"))
    prompts = metrics["Prompt-level-strict-accuracy"]
    assert (prompts["value"], prompts["ci_low"], prompts["ci_high"]) == (0.0, 0.0, pytest.approx(32.4408, abs=1e-3))


def test_nan_becomes_null() -> None:
    _, _, metrics = scored(answers("y", "n"), rows("y", "n"), spec(f"{HERE}:Correlation"))
    assert metrics["nothing"]["value"] is None


def test_a_metric_that_does_not_exist_is_null() -> None:
    outputs = answers({"output": "", "turns": "[0.2, 0.8]"}, {"output": "", "turns": "[0.4, 0.6]"})
    _, scores, metrics = scored(outputs, rows(1, 1), spec("AUCROCEvaluator"))
    assert metrics["auc_score"]["value"] is None
    assert metrics["auc_score"]["scale"] == 100.0
    assert len(scores) == 2


def test_corpus_metrics_see_empty_answers() -> None:
    outputs = answers("y", {"status": "filtered"}, "n", {"output": "", "status": "truncated"})
    _, scores, metrics = scored(outputs, rows("y", "y", "n", "n"), spec(f"{HERE}:Correlation"))
    assert metrics["mcc"]["value"] == pytest.approx(100 * matthews([("y", "y"), ("", "y"), ("n", "n"), ("", "n")]))
    assert [s["status"] for s in scores] == ["ok", "filtered", "ok", "unparsed"]


def test_repeats_of_corpus_metrics_are_averaged() -> None:
    given = ["y", "n", "n", "y", "y", "y", "n", "n"]
    _, _, metrics = scored(answers(*given, repeats=2), rows("y", "n", "y", "n"), spec(f"{HERE}:Correlation", n=2))
    first, second = given[::2], given[1::2]
    expected = [100 * matthews(list(zip(part, ["y", "n", "y", "n"], strict=True))) for part in (first, second)]
    assert metrics["avg@2"]["value"] == pytest.approx(sum(expected) / 2)


def test_recorded_bootstrap_median_is_the_value_and_the_error_that_of_the_mean() -> None:
    ratings = RougeEvaluator().rate(["a b c", "a", "x y", "q"], ["a b d", "a", "x z", "p"])
    assert abs(RougeEvaluator().combine(ratings)["rouge1"] - 100 * (2 / 3 + 1 + 0.5 + 0) / 4) < 3


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(DataError, match="2 predictions, 1 references"):
        LengthEvaluator().rate(["a", "b"], ["a"])
    with pytest.raises(DataError, match="no predictions to score"):
        LengthEvaluator().measure([], [])


class OfOldForm(WholeSet):
    metric = "accuracy"

    def evaluate(self, predictions: Any, references: Any, rows: Any) -> dict[str, Any]:
        rights = [p == r for p, r in zip(predictions, references, strict=True)]
        if "boom" in predictions:
            return {"error": "no boom allowed"}
        details = {str(i): {"pred": p, "correct": right} for i, (p, right) in enumerate(zip(predictions, rights, strict=True))}
        return {"accuracy": 100 * sum(rights) / len(rights), "kind": "old", "details": details}


def test_the_form_of_opencompass_gives_scores_and_metrics() -> None:
    _, scores, metrics = scored(answers("a", "b", "a", "a"), rows(*"aaaa"), spec(f"{HERE}:OfOldForm"))
    assert [s["correct"] for s in scores] == [True, False, True, True]
    assert list(metrics) == ["accuracy"]
    assert metrics["accuracy"]["value"] == 75.0
    assert metrics["accuracy"]["stderr"] == pytest.approx(25.0)
    with pytest.raises(DataError, match="OfOldForm: no boom allowed"):
        OfOldForm().measure(["boom"], ["a"])


class Picky(Evaluator):
    metric = "accuracy"

    def observe(self, prediction: Any, reference: Any, row: Any) -> bool:
        return {"a": True, "b": False}[prediction]


def test_one_unreadable_answer_is_wrong_and_says_why() -> None:
    _, scores, metrics = scored(answers("a", "c", "a"), rows(*"xxx"), spec(f"{HERE}:Picky"))
    assert [s["correct"] for s in scores] == [True, False, True]
    assert "KeyError" in scores[1]["detail"]
    assert metrics["accuracy"]["value"] == pytest.approx(200 / 3)
    with pytest.raises(DataError, match="Picky cannot score these answers: KeyError: 'c'"):
        scored(answers("c", "d"), rows(*"xx"), spec(f"{HERE}:Picky"))


def test_an_unreadable_answer_is_worth_what_nothing_is_also_where_the_whole_set_makes_the_metric() -> None:
    dataset = spec("AUCROCEvaluator", eval_cfg={"pred_postprocessor": {"type": "json_value"}})
    _, scores, metrics = scored(answers("[0.9, 0.1]", "[0.2, 0.8]", '{"p": 1}'), rows(0, 1, 1), dataset)
    assert "KeyError" in scores[2]["detail"]
    assert metrics["auc_score"]["value"] == pytest.approx(100)
    assert metrics["accuracy"]["value"] == pytest.approx(200 / 3)


def test_a_cell_without_any_row_that_counts_has_no_value() -> None:
    samples = rows("x", "y", is_clean=["not labelled", "not labelled"])
    _, scores, metrics = scored(answers("x", "y"), samples, spec("AccContaminationEvaluator"))
    assert [s["score"] for s in scores] == [None, None]
    assert metrics["accuracy - clean"]["value"] is None


def test_a_refused_sample_is_in_no_mean_likelihood() -> None:
    lines = [{"nll": 4.0, "scored_tokens": 2}, {"nll": 1.0, "scored_tokens": 1}, {"status": "rejected"}]
    _, scores, metrics = scored(answers(*lines), rows(*"xyz"), spec("AveragePPLEvaluator"))
    assert metrics["average_ppl"]["value"] == pytest.approx(1.5)
    assert (metrics["average_ppl"]["scale"], metrics["average_ppl"]["higher_is_better"]) == (None, False)
    assert [s["score"] for s in scores] == [None, None, None]
