"""LawBench's labels and phrases by the paper's definitions: counted by hand."""

from __future__ import annotations

import pytest

from evaluators.lawbench_labels import characters_f1, soft_f1
from evaluators.stage import check
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.registry import build
from tests.evaluators.cells import rows, spec

CASES = [
    ("2_2", "[争议焦点]责任认定<eoa>", "争议焦点类别：责任认定。", 100.0),
    ("2_2", "责任认定、违约", "争议焦点类别：责任认定。", 200 / 3),
    ("2_3", "支付抚养费；准予离婚", "类别:支付抚养费;婚后分居", 50.0),
    ("2_5", "回答:借款21万元。", "回答:21万元借款", 100.0),
    ("2_5", "21万元", "回答:21万元借款", 80.0),
    ("2_6", "受害人:严某某;时间:昨天", "受害人:严某某、肖某某", 50.0),
    ("2_6", "受害人：严某", "受害人:严某某", 80.0),
    ("2_9", "拘捕；供述", "拘捕", 200 / 3),
    ("2_10", "查扣;退", "查扣;退给", 100 * (1 + 2 / 3) / 2),
]


@pytest.mark.parametrize(("task", "answer", "reference", "score"), CASES)
def test_tasks(task: str, answer: str, reference: str, score: float) -> None:
    found = build("evaluator", {"type": f"LawBenchEvaluator_{task}"}).measure([answer], [reference])
    assert found["score"] == pytest.approx(score)


@pytest.mark.parametrize("task", ["2_3", "2_6", "2_9"])
def test_an_answer_that_names_nothing_abstains(task: str) -> None:
    found = build("evaluator", {"type": f"LawBenchEvaluator_{task}"}).measure(["我不知道"], ["责任认定 支付抚养费 拘捕 时间:昨天"])
    assert found == {"score": 0.0, "abstention_rate": 100.0}


def test_soft_f1_pairs_each_phrase_once() -> None:
    assert soft_f1(["电瓶", "电瓶"], ["电瓶4只"]) == pytest.approx(2 * characters_f1("电瓶", "电瓶4只") / 3)
    assert soft_f1([], ["a"]) == soft_f1(["b"], ["a"]) == 0.0


@pytest.mark.parametrize("task", ["2-1", "3-6"])
def test_tasks_of_which_too_little_is_known_are_refused(task: str) -> None:
    with pytest.raises(SpecError, match=f"task '{task}' is not scored here; tasks: 1-1"):
        build("evaluator", {"type": "LawBenchEvaluator", "index": task})


def test_references_of_another_form_are_refused_before_any_request() -> None:
    with pytest.raises(DataError, match="row 1: a LawBench reference must name its letter, got 'A'"):
        check(spec(eval_cfg={"evaluator": {"type": "LawBenchEvaluator_1_2"}}), rows("正确答案：A", "A"))
    with pytest.raises(DataError, match="row 0: a LawBench 2-2 reference is 争议焦点类别：LABEL。, got '违约'"):
        check(spec(eval_cfg={"evaluator": {"type": "LawBenchEvaluator_2_2"}}), rows("违约"))
