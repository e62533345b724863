"""The evaluators with OpenCompass names on small sets of our own: one table a kind."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.recorded import RECORDED
from leaderflow.core.errors import LeaderflowError, SpecError
from leaderflow.core.registry import build, known, resolve

Row = dict[str, Any]

SINGLE: list[tuple[Row | str, Any, Any, float]] = [
    ("GPQAEvaluator", "B", "B", 100),
    ("BBEHEvaluator_mcq", " b", "B", 100),
    ("BBHEvaluator", "So the answer is no.", "No", 100),
    ("BBEHEvaluator", "The answer is: \\boxed{Seven}", "seven", 100),
    ("Gsm8kEvaluator", "18.0", "18", 100),
    ("Gsm8kEvaluator", "18", "18.0", 0),
    ("Math401Evaluator", "0.5", ".5", 100),
    ("MMLUProBaseEvaluator", "tea", "C. tea", 100),
    ("LambadaEvaluator", " river, and", "river", 100),
    ("MusrEvaluator", "so\nANSWER: 2", 2, 100),
    ("PMMEvalMGSMEvaluator", "in all 2,500", "2500", 100),
    ("TabMWPEvaluator", "The answer is 0.50", {"answer": "1/2", "choices": None, "unit": ""}, 100),
    ("EMEvaluator", "An oak.", ["oak"], 100),
    ("TriviaQAEvaluator", "answer: the old oak tree", ["Oak"], 100),
    ("NQEvaluatorCN", "答案是：松树", ["松树"], 100),
    ("SQuAD20Evaluator", "I think the answer is an oak", ["oak"], 100),
    ("DropOpenAIEvaluator", "Answer: 12 miles", "12|twelve", 100),
    ("TydiQAEvaluator", "Oak", ["Oak"], 0),
    ("SquadEvaluator", "the old oak", "an oak", 200 / 3),
    ({"type": "LongBenchF1Evaluator", "language": "zh"}, "松树很高", ["松树"], 50),
    ({"type": "LVEvalOPTF1Evaluator", "language": "en"}, "the birch", ["old oak", "oak"], 0),
    ("F1ScoreEvaluator", "A,B", "A,C", 50),
    ({"type": "LongBenchRougeEvaluator", "language": "en"}, "a tall oak", ["a tall oak"], 100),
    ("RougeEvaluator", "tall oak trees", "tall oak", 80),
    ("JiebaRougeEvaluator", "松树很高", "松树很高", 100),
    ("LongBenchCountEvaluator", "3 or 4", ["3"], 50),
    ({"type": "LongBenchRetrievalEvaluator", "language": "en"}, "Paragraph 7", ["Paragraph 7"], 100),
    ("LongBenchClassificationEvaluator", "tea and milk", {"all_classes": ["tea", "milk"], "answers": ["tea"]}, 50),
    ("LongBenchCodeSimEvaluator", "# note\nx = 1", ["x = 1"], 100),
    ("InfiniteBenchmathcalcEvaluator", "5, 6, 8", [5, 6, 7], 200),
    ("InfiniteBenchretrievekvEvaluator", "it is 'k-9'", "k-9", 100),
    ("BabiLongEvaluator", "In the Kitchen. Or not.", ["kitchen"], 100),
    ("MRCREvaluator", "xyzTea", '{"prefix": "xyz", "answer": "xyzTea"}', 100),
    ("RulerNiahEvaluator", "one and TWO", ["one", "two", "three", "four"], 50),
    ("RulerQaEvaluator", "it is two", ["one", "two"], 100),
    ("EDAccEvaluator", "gren", {"candidates": ["red", ["green", "verdant"]], "label": 1}, 100),
    ("ARCPrizeEvaluator", "so [[3, 0]]", [[3, 0]], 1),
    ("Game24Evaluator", "(10 - 4) * 4", "4 4 10", 1),
    ("Game24Evaluator", "__import__('os')", "24", 0),
    ("OpenFinDataKWEvaluator", "涨了，又跌了", "涨、跌", 100),
    ("CRUXEvalOEvaluator", "{'a': [1]}", "{'a': [1.0]}", 100),
    ({"type": "GaokaoBenchEvaluator", "question_type": "multi_choice"}, "【答案】AC", ["ACD"], 50),
    ({"type": "KaoshiEvaluator", "question_type": "multi_question_choice"}, "【答案】A【答案】D", ["A", "C"], 50),
    ("GaokaoBenchEvaluator_single_choice", "不是A，是C", ["C"], 100),
    ({"type": "LawBenchEvaluator", "index": "3-1"}, "刑法第一百零三条和第5条", "法条:刑法第103条", 200 / 3),
    ({"type": "LawBenchEvaluator", "index": "3-4"}, "一年六个月", "刑期:18个月", 100),
    ("LawBenchEvaluator_3_7", "共计300元", "上文涉及到的犯罪金额:300.0元。", 100),
    ({"type": "MATHEvaluator", "version": "v1"}, "x=\\tfrac34", "3/4", 100),
    ({"type": "MATHEvaluator", "version": "v2"}, "12.00 \\text{ kg}", "12", 100),
    ("MATHInternEvaluator", "10,000", "10000", 100),
    ("AGIEvalEvaluator", "so $x = 9$", "9", 100),
    ("BiodataAccEvaluator", "\\boxed{Negative}", "negative", 100),
    ("BiodataRMSEEvaluator", "\\boxed{3}", 5.0, 2),
    ("TheoremQAEvaluatorV3", "2.03", "2", 100),
    ("PMMEvalXNLIEvaluator", ["The answer is (B)", "en"], "B", 100),
    ("ZebraLogicMCEvaluator", "the answer is D", "D", 100),
    ("CrowspairsEvaluator", "invalid", "A", 0),
]


@pytest.mark.parametrize(("config", "prediction", "reference", "value"), SINGLE)
def test_one_answer(config: Row | str, prediction: Any, reference: Any, value: float) -> None:
    evaluator = build("evaluator", {"type": config} if isinstance(config, str) else config)
    metrics = evaluator.measure([prediction], [reference])
    assert metrics[evaluator.metric] == pytest.approx(value, abs=1e-4)


def test_groups_of_rows() -> None:
    rows = [{"difficulty": "easy", "length": "short"}, {"difficulty": "hard", "length": "short"}]
    found = build("evaluator", {"type": "LongBenchv2Evaluator"}).measure(["A", "B"], ["A", "C"], rows)
    assert found == {"accuracy": 50, "accuracy_easy": 100, "accuracy_short": 50, "accuracy_hard": 0}
    drop = build("evaluator", {"type": "AccDropEvaluator"}).measure(["A", "B", "C", "D"], ["A", "X", "C", "D"])
    assert drop == {"acc_drop": 0.5, "acc_before": 100, "acc_after": 50}
    steps = build("evaluator", {"type": "ProcessBenchEvaluator"}).measure(["\\boxed{2}", "\\boxed{-1}"], [2, -1])
    assert steps == {"f1": 100, "error_acc": 100, "correct_acc": 100}


def test_rotations_of_a_question() -> None:
    references = ["q--A--ABCD", "q--D--BCDA", "q--C--CDAB", "q--B--DABC"]
    found = build("evaluator", {"type": "CircularEvaluator"}).measure(["A", "D", "C", "A"], references)
    assert (found["acc_4"], found["perf_4"], found["more_4_3"], found["vote_4"], found["acc_1"]) == (75, 0, 100, 100, 100)
    assert (found["prior_A"], found["prior_-"]) == (50, 0)


def test_metrics_of_a_whole_set() -> None:
    bleu = build("evaluator", {"type": "BleuEvaluator"}).measure(["a b c d e"], ["a b c d e"])
    assert bleu["score"] == pytest.approx(100)
    area = build("evaluator", {"type": "AUCROCEvaluator"}).measure([[0.4, 0.6], [0.4, 0.6], [0.9, 0.1]], [1, 0, 0])
    assert area == {"auc_score": 75.0, "accuracy": pytest.approx(200 / 3)}
    rank = build("evaluator", {"type": "BiodataSpearmanEvaluator"}).measure(["\\boxed{1}", "\\boxed{9}", "?"], [1, 2, 3])
    assert rank["spearman"] == pytest.approx(200 / 3)


def test_puzzle_cells() -> None:
    solution = {"header": ["House", "Name"], "rows": [["1", "Ann"], ["2", "Bo"]]}
    found = build("evaluator", {"type": "ZebraLogicGridEvaluator"}).measure(["House 1: ann\nHouse 2: Cy"], [solution])
    assert found == {"score": 75, "cell_accuracy": 75, "perfect_accuracy": 0}


def test_every_recorded_class_has_a_registered_evaluator_with_a_source() -> None:
    for dotted, name in RECORDED.items():
        assert name in known("evaluator"), dotted
        assert resolve("evaluator", name).__doc__, name


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"type": "MATHEvaluator", "version": "v3"}, "version must be v1 or v2"),
        ({"type": "GaokaoBenchEvaluator", "question_type": "single_choise"}, "did you mean 'single_choice'"),
        ({"type": "LawBenchEvaluator", "index": "9-9"}, "LawBench task '9-9' is not scored here"),
        ({"type": "OptionSimAccEvaluator", "options": ["AB"]}, "single capital letter, got 'AB'"),
        ({"type": "LongBenchF1Evaluator", "languag": "en"}, "has no argument 'languag'; did you mean 'language'"),
    ],
)
def test_wrong_arguments_are_one_clear_line(config: Row, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        build("evaluator", config)


def test_references_that_cannot_be_read_are_one_clear_line() -> None:
    with pytest.raises(LeaderflowError, match="LongBenchRetrievalEvaluator cannot score these answers: TypeError"):
        build("evaluator", {"type": "LongBenchRetrievalEvaluator", "language": "en"}).measure(["3"], [7])
