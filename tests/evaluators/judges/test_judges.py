"""What judges are asked and what their verdicts are worth, without a run."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from evaluators import stage
from evaluators.judges import stage as judges
from leaderflow.core.artifacts import EXTRACTED, table_of
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.specs import DatasetSpec
from tests.evaluators.cells import answers, rows, spec

Said = dict[str, Any]


def toy(evaluator: str, **arguments: Any) -> DatasetSpec:
    return spec(eval_cfg={"evaluator": {"type": evaluator, "question": "q", **arguments}})


def asked(dataset: DatasetSpec, samples: pa.Table, outputs: pa.Table) -> list[dict[str, Any]]:
    extracted = stage.postprocess(outputs, samples, dataset)
    found = judges.questions(extracted, samples, outputs, dataset).to_pylist()
    return [question | {"row": json.loads(question["row"])} for question in found]


def judged(
    dataset: DatasetSpec, samples: pa.Table, outputs: pa.Table, said: Said | list[Said]
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, int]]:
    """Score a cell about which judges said: question → verdict (None: unreadable; "error": no answer), one mapping a judge."""
    extracted = stage.postprocess(outputs, samples, dataset)
    questions = judges.questions(extracted, samples, outputs, dataset)
    replies = []
    for number, one in enumerate([said] if isinstance(said, dict) else said):
        lines = [
            {"sample_id": i, "repeat": r, "status": "error" if v == "error" else "ok", "extracted": _text(v)}
            for i in questions.column("question_id").to_pylist()
            for r, v in enumerate(one[i] if isinstance(one[i], list) else [one[i]])
        ]
        replies.append((f"judge{number}", table_of(EXTRACTED, lines)))
    verdicts = judges.verdicts(questions, replies)
    judging = stage.build_evaluator(dataset).judging
    settled = judges.settled(extracted, verdicts, judging.minimum)
    scores, metrics = stage.score(settled, samples, outputs, dataset, verdicts)
    return scores.to_pylist(), {m["metric"]: m["value"] for m in metrics.to_pylist()}, stage.counts(settled, outputs)


def _text(value: Any) -> str | None:
    return None if value in (None, "error") else json.dumps(value)


RIGHT, WRONG = "CORRECT", "INCORRECT"
THREE = answers("one", "two", "three")
GOLDS = rows("1", "2", "3")


def test_only_answers_are_asked_about() -> None:
    outputs = answers(
        "one", "", {"status": "rejected"}, {"status": "filtered"}, {"status": "error"}, {"output": "cut", "status": "truncated"}
    )
    found = asked(toy("CorrectnessJudge"), rows(*"123456"), outputs)
    assert [question["sample_id"] for question in found] == ["s0", "s5"]
    assert found[0]["question_id"] == "s0#0"
    assert found[0]["row"]["reference"] == "1"
    assert "\none\n" in found[0]["row"]["answer"]


def test_an_unanswered_question_is_an_error_and_no_score() -> None:
    scores, metrics, counts = judged(toy("CorrectnessJudge"), GOLDS, THREE, {"s0#0": RIGHT, "s1#0": "error", "s2#0": WRONG})
    assert (counts["n"], counts["n_scored"], counts["n_failed"], metrics["accuracy"]) == (3, 2, 1, 50.0)
    assert (scores[1]["status"], scores[1]["score"]) == ("error", None)


def test_fewer_readable_verdicts_than_the_minimum_are_none() -> None:
    dataset = toy("CorrectnessJudge", minimum=2)
    said = {"s0#0": [RIGHT, RIGHT], "s1#0": [RIGHT, None], "s2#0": [None, None]}
    scores, metrics, counts = judged(dataset, GOLDS, THREE, said)
    assert [row["correct"] for row in scores] == [True, False, False]
    assert counts["n_unparsed"] == 2
    assert metrics["unreadable"] == pytest.approx(50.0)


def test_majority_of_judges_and_repeats_and_a_tie_is_not_right() -> None:
    said = [
        {"s0#0": [RIGHT, RIGHT], "s1#0": [RIGHT, WRONG], "s2#0": [WRONG, WRONG]},
        {"s0#0": [WRONG, RIGHT], "s1#0": [WRONG, RIGHT], "s2#0": [RIGHT, RIGHT]},
    ]
    scores, metrics, _ = judged(toy("CorrectnessJudge", repeats=2), GOLDS, THREE, said)
    assert [row["correct"] for row in scores] == [True, False, False]
    assert metrics["accuracy"] == pytest.approx(100 / 3)


def test_the_third_verdict_gives_simpleqas_numbers() -> None:
    said = {"s0#0": RIGHT, "s1#0": WRONG, "s2#0": "NOT_ATTEMPTED"}
    _, metrics, _ = judged(toy("CorrectnessJudge", not_attempted=True), GOLDS, THREE, said)
    expected = {"accuracy": 100 / 3, "attempted": 200 / 3, "accuracy_given_attempted": 50.0, "f1": 40.0, "unreadable": 0.0}
    assert metrics == pytest.approx(expected)


def test_judges_are_compared_with_people() -> None:
    samples = rows("1", "2", "3", human=[1, "wrong?", 1])
    _, metrics, _ = judged(
        toy("CorrectnessJudge", human_column="human"), samples, THREE, dict.fromkeys(("s0#0", "s1#0"), RIGHT) | {"s2#0": WRONG}
    )
    assert metrics["human_agreement"] == 50.0, "a label that is none counts in no agreement"
    assert metrics["human_kappa"] == 0.0


def test_ratings_are_in_points() -> None:
    scores, metrics, _ = judged(
        toy("RatingJudge", repeats=2), GOLDS, THREE, {"s0#0": [8, 9], "s1#0": [2, None], "s2#0": [None, None]}
    )
    assert metrics["rating"] == pytest.approx((8.5 + 2 + 0) / 3)
    assert [row["score"] for row in scores] == pytest.approx([0.85, 0.2, 0.0])


def test_rubrics_add_points_and_faults_take_them() -> None:
    rubric = [{"criterion": "polite", "points": 3}, {"criterion": "right", "points": 5}, {"criterion": "invents", "points": -4}]
    samples, dataset = rows("1", "2", rubrics=[rubric, rubric]), toy("RubricJudge")
    outputs = answers("one", "two")
    found = asked(dataset, samples, outputs)
    assert [question["question"] for question in found] == ["1", "2", "3"] * 2
    assert found[2]["row"]["criterion"] == "invents"
    said = {"s0#0#1": "MET", "s0#0#2": "MET", "s0#0#3": "NOT MET", "s1#0#1": None, "s1#0#2": "NOT MET", "s1#0#3": "MET"}
    scores, metrics, _ = judged(dataset, samples, outputs, said)
    assert [row["score"] for row in scores] == [1.0, 0.0]
    assert json.loads(scores[1]["detail"])["share"] == -0.5
    assert metrics["rubric"] == pytest.approx(25.0)
    with pytest.raises(DataError, match="no criterion with points"):
        asked(dataset, rows("1", rubrics=[[{"criterion": "x", "points": -1}]]), answers("one"))


def test_pairs_are_asked_in_both_orders() -> None:
    samples, dataset = rows("1", "2", "3", baseline=["b"] * 3), toy("PairwiseJudge")
    found = asked(dataset, samples, THREE)
    assert [question["question"] for question in found[:2]] == ["answer first", "answer second"]
    assert found[0]["row"]["first"] == found[1]["row"]["second"]
    assert "\none\n" in found[0]["row"]["first"]
    first, second = "s{}#0#answer first", "s{}#0#answer second"
    said = {first.format(0): "A", second.format(0): "B", first.format(1): "A", second.format(1): "A"}
    said |= {first.format(2): "TIE", second.format(2): None}
    scores, metrics, _ = judged(dataset, samples, THREE, said)
    assert [row["score"] for row in scores] == [1.0, 0.5, 0.25]
    assert metrics == pytest.approx({"win_rate": 175 / 3, "consistent": 50.0, "first_place": 75.0, "unreadable": 50 / 3})


def test_marks_of_the_fence_depend_on_the_answer() -> None:
    from evaluators.judges.base import fenced

    marks = {fenced(text).split(">>>")[0] for text in ("x", "y", fenced("x"))}
    assert len(marks) == 3
    assert fenced("a\nb") == fenced("a\nb")
    assert fenced("a\nb").splitlines()[1:3] == ["a", "b"]


def test_wrong_arguments_are_refused() -> None:
    for arguments, message in [
        ({"prompt": "{question}"}, "must show {answer}"),
        ({"repeats": 0}, "at least 1"),
        ({"minimum": 0}, "at least 1"),
    ]:
        with pytest.raises(SpecError, match=message):
            stage.build_evaluator(toy("CorrectnessJudge", **arguments))
    with pytest.raises(SpecError, match="scale"):
        stage.build_evaluator(toy("RatingJudge", low=5, high=5))


def test_recorded_judges_sum_up_as_recorded() -> None:
    template = {"type": "PromptTemplate", "template": "{q} {prediction}"}
    dataset = spec(eval_cfg={"evaluator": {"type": "GenericLLMEvaluator", "prompt_template": template}})
    found = asked(dataset, GOLDS, THREE)
    assert found[0]["row"] == {"q": "question 0", "a": "1", "prediction": "one", "obj_gold": "1", "reference": "1"}
    scores, metrics, _ = judged(dataset, GOLDS, THREE, {"s0#0": "A", "s1#0": "INCORRECT: B", "s2#0": "no"})
    assert [row["correct"] for row in scores] == [True, False, False]
    assert metrics["accuracy"] == pytest.approx(100 / 3)
    assert metrics["not_attempted_count"] == 1
    summary = {"type": "csimpleqa_postprocess"}
    dataset = spec(eval_cfg={"evaluator": {"type": "LMEvaluator", "prompt_template": template, "dict_postprocessor": summary}})
    scores, metrics, _ = judged(dataset, GOLDS, THREE, {"s0#0": "A", "s1#0": "B", "s2#0": "C"})
    assert metrics["correct"] == pytest.approx(1 / 3)
    assert metrics["F1"] == pytest.approx(0.4)
    dataset = spec(eval_cfg={"evaluator": {"type": "LMEvaluator", "prompt_template": template}})
    _, metrics, _ = judged(dataset, GOLDS, THREE, {"s0#0": "[[7]]", "s1#0": "[正确]", "s2#0": "不正确"})
    assert metrics["score"] == pytest.approx(100 * 1.7 / 3)


def test_the_recorded_cascade_takes_rule_or_judge() -> None:
    judge = {"type": "x.GenericLLMEvaluator", "prompt_template": {"type": "PromptTemplate", "template": "{prediction}"}}
    outputs = answers("1", "two", "three")
    for parallel, count in ((True, 3), (False, 2)):
        cascade = {"type": "CascadeEvaluator", "llm_evaluator": judge, "rule_evaluator": {"type": "AccEvaluator"}}
        dataset = spec(eval_cfg={"evaluator": cascade | {"parallel": parallel}})
        assert len(asked(dataset, GOLDS, outputs)) == count
        said = {"s0#0": "B", "s1#0": "CORRECT", "s2#0": "INCORRECT"}
        scores, metrics, _ = judged(dataset, GOLDS, outputs, said)
        assert [row["correct"] for row in scores] == [True, True, False]
        silent, _, _ = judged(dataset, GOLDS, outputs, said | {"s0#0": None})
        assert silent[0]["correct"], "the rule needs no judge"
        assert (metrics["n_confirmed_by_rules"], metrics["n_confirmed_by_judge"], metrics["n_judged"]) == (1, 1, count)
