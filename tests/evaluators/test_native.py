"""Our own evaluators, and the faults of others that they must not have."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from evaluators.base import Evaluator
from evaluators.native import AllCorrect, ChrF, ExactMatch, MathMatch, NumberMatch, SetMatch, TokenF1
from evaluators.normalise import number
from tests.evaluators.cells import answers, rows, scored, spec


def verdicts(evaluator: Evaluator, *pairs: tuple[Any, Any]) -> list[bool | None]:
    ratings = evaluator.rate([p for p, _ in pairs], [r for _, r in pairs])
    return [rating.correct for rating in ratings]


def test_any_alias_counts_and_no_part_or_glued_alias_does() -> None:
    found = verdicts(
        ExactMatch(),
        ("Danube", ["Danube", "River Danube"]),
        ("Köln.", ["City of Köln", "Köln", "Cologne"]),
        ("Papua", ["Papua-New Guinea"]),
        ("DanubeRiver Danube", ["Danube", "River Danube"]),
        ("the 　DANUBE！", "Danube"),
        ("", ["Danube"]),
    )
    assert found == [True, True, False, False, True, False]


@pytest.mark.parametrize(
    ("answer", "other"),
    [("-7", "7"), ("−7", "7"), ("2.5", "25"), ("5/8", "58"), ("9:15", "915"), ("1990-95", "199095")],
)
def test_punctuation_that_makes_another_number_counts(answer: str, other: str) -> None:
    assert verdicts(ExactMatch(), (answer, other), (other, answer), (answer, answer)) == [False, False, True]


def test_other_punctuation_of_numbers_does_not_count() -> None:
    found = verdicts(ExactMatch(), ("12,500.", "12500"), ("(7)", "7"), ("1990–95", "1990-95"), ("covid-19", "COVID19"))
    assert found == [True] * 4


def test_a_reference_that_is_a_number_is_compared_by_value() -> None:
    found = verdicts(ExactMatch(), ("7", 7.0), ("7.0", 7), ("70", 7.0), ("1.10", "1.1"), ("1", True), ("None", None))
    assert found == [True, True, False, False, False, False]


def test_articles_and_marks_alone_are_not_equal_to_each_other() -> None:
    assert verdicts(ExactMatch(), ("a", "The"), ("!", "?"), ("A", "a"), ("The The", "the the")) == [False, False, True, True]


def test_an_equation_is_no_value_unless_it_names_or_computes_one() -> None:
    found = verdicts(
        MathMatch(),
        ("3x - y + 6 = 0", "0"),
        ("0", "3x - y + 6 = 0"),
        ("x = 0", "0"),
        ("f(t) = 2t", "2t"),
        ("2 + 3 = 5", "5"),
        ("x <= 4", "x >= 4"),
        ("x <= 4", "x \\le 4"),
        ("x != 4", "x = 4"),
    )
    assert found == [False, False, True, True, True, False, True, False]


def test_numbers_are_compared_as_numbers() -> None:
    found = verdicts(
        NumberMatch(),
        ("945", "45"),
        ("45", "945"),
        ("4", "-4"),
        ("-4", "-4"),
        ("13.14", "3.14"),
        ("1,200.0", 1200),
        ("1/3", "0.33333333"),
        ("$1 500", "1500"),
        ("none", "5"),
    )
    assert found == [False, False, False, True, False, True, True, True, False]


def test_whole_numbers_beyond_64_bits_are_exact() -> None:
    big = 2**80
    assert verdicts(NumberMatch(), (str(big), big), (str(big + 1), big)) == [True, False]


@pytest.mark.parametrize(
    ("text", "value"), [("３．５", Fraction(7, 2)), ("50%", Fraction(50)), ("−2", Fraction(-2)), ("1e3", Fraction(1000))]
)
def test_number_reads(text: str, value: Fraction) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "five", "1,2", "1/0", "1e9999", True, None, "0x10"])
def test_number_reads_no_number(text: Any) -> None:
    assert number(text) is None


def test_math_is_compared_as_what_it_means() -> None:
    found = verdicts(
        MathMatch(),
        ("$5\\sqrt(2)$", "5"),
        ("3x + 4y + 1=0", "3x-y+6=0"),
        ("x*3-y+6=0", "3*x-1*y+6=0"),
        ("6x - 2y + 12 = 0", "3x-y+6=0"),
        ("\\text{17}", "17"),
        ("\\frac58", "\\frac{5}{8}"),
        ("0.625", "\\frac{5}{8}"),
        ("x^2+2x+1", "(x+1)^2"),
        ("x^2+2x+2", "(x+1)^2"),
        ("", "3"),
    )
    assert found == [False, False, True, True, True, True, True, True, False, False]


def test_sets_of_options_know_no_order() -> None:
    found = verdicts(SetMatch(), ("A, C and B", "ABC"), (["B", "A"], "A,B"), ("AB", "ABC"), ("", "A"), ("a、c", "AC"))
    assert found == [True, True, False, False, True]


def test_token_f1_takes_the_best_reference_and_cuts_chinese() -> None:
    assert TokenF1().measure(["red big car"], [["a red car", "bike"]])["f1"] == pytest.approx(80.0)
    assert TokenF1().measure(["北京大学"], [["北京大学"]]) == {"f1": 100.0, "exact_match": 100.0}


def test_groups_are_right_as_a_whole_and_errors_count_groups() -> None:
    paragraph, question = [i // 4 for i in range(16)], [i // 2 % 2 for i in range(16)]
    given = ["no"] + ["yes"] * 15
    evaluator = {"evaluator": {"type": "AllCorrect", "group": ["paragraph", "question"]}}
    _, _, metrics = scored(answers(*given), rows(*["yes"] * 16, paragraph=paragraph, question=question), spec(eval_cfg=evaluator))
    assert metrics["exact_match"]["value"] == pytest.approx(87.5)
    assert metrics["exact_match"]["stderr"] == pytest.approx(12.5)
    assert metrics["accuracy"]["value"] == pytest.approx(93.75)
    assert AllCorrect(["paragraph"]).needs == {"paragraph"}


def test_groups_are_judged_within_a_repeat() -> None:
    samples = rows("x", "x", "x", paragraph=[1, 1, "1"])
    dataset = spec("AllCorrect", eval_cfg={"evaluator": {"type": "AllCorrect", "group": ["paragraph"]}}, n=2)
    outputs = answers("x", "y", "x", "x", "x", "y", repeats=2)  # the first repeat is right throughout
    _, _, metrics = scored(outputs, samples, dataset)
    assert metrics["avg@2"]["value"] == pytest.approx(50.0)


def test_chrf_equals_sacrebleu() -> None:
    from sacrebleu.metrics.chrf import CHRF

    given, wanted = ["the cat sat", "", "一只猫", "hello there friend"], ["the cat sits", "empty", "一只小猫", "hello, friend"]
    assert ChrF().measure(given, wanted)["chrf"] == pytest.approx(CHRF().corpus_score(given, [wanted]).score)


def test_rouge_of_summaries_takes_stems_and_the_best_reference() -> None:
    from evaluators.rouge import SummaryRouge

    rouge = SummaryRouge()
    found = rouge.measure(["the cats sat", "zzq"], [["a dog ran", "the cat sits"], "the cat"])
    assert found["rouge1"] == pytest.approx(100 * (2 / 3) / 2)
    assert rouge.measure(["the cat sits on it"], ["the cat sits on it"]) == {"rouge1": 100.0, "rouge2": 100.0, "rougeL": 100.0}
