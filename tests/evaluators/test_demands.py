"""What no answer could be scored for is refused when the data are read."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators import stage
from leaderflow.core.artifacts import samples_of
from leaderflow.core.errors import DataError
from tests.evaluators.cells import spec

IFEVAL = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
CASES = {"inputs": ["1"], "outputs": ["2"]}
GOOD: list[tuple[dict[str, Any], Any, dict[str, Any]]] = [
    ({"type": "IFEvaluator"}, IFEVAL, {}),
    ({"type": "IFBenchEvaluator"}, IFEVAL, {}),
    ({"type": "MultiIFEvaluator"}, {f"turn_{n}_{key}": value for n in (1, 2, 3) for key, value in IFEVAL.items()}, {}),
    ({"type": "CircularEvaluator"}, "7--B--BCDA", {}),
    ({"type": "StdinStdoutEvaluator"}, None, {"input_output": CASES}),
    ({"type": "AccEvaluator"}, 7, {}),
    ({"type": "MusrEvaluator"}, "2", {}),
    ({"type": "TabMWPEvaluator"}, {"answer": "1", "choices": None, "unit": None}, {}),
    ({"type": "EMEvaluator"}, ["a", "b"], {}),
    ({"type": "EDAccEvaluator"}, {"candidates": ["a"], "label": 0}, {}),
    ({"type": "AssertionTestsEvaluator"}, None, {"test_list": ["assert f() == 1"]}),
]
BAD: list[tuple[dict[str, Any], Any, dict[str, Any], str]] = [
    ({"type": "IFEvaluator"}, "no_comma", {}, "row 1: needs instruction_id_list and kwargs in the reference"),
    ({"type": "IFEvaluator"}, {"kwargs": [{}]}, {}, "needs instruction_id_list"),
    ({"type": "IFEvaluator"}, {**IFEVAL, "kwargs": []}, {}, "lists of one length"),
    (
        {"type": "IFEvaluator"},
        {**IFEVAL, "instruction_id_list": ["punctuation:no_coma"]},
        {},
        "did you mean 'punctuation:no_comma'",
    ),
    ({"type": "IFEvaluator"}, {**IFEVAL, "kwargs": [{"many": 3}]}, {}, "cannot be checked with {'many': 3}"),
    ({"type": "MultiIFEvaluator"}, IFEVAL, {}, "needs turn_1_instruction_id_list"),
    ({"type": "CircularEvaluator"}, "B", {}, "needs id--letter--pattern, such as 7--B--BCDA, as the reference, not 'B'"),
    ({"type": "CircularEvaluator"}, "7--B--ABC", {}, "needs id--letter--pattern"),
    ({"type": "StdinStdoutEvaluator"}, None, {"input_output": "no JSON"}, "test cases must be"),
    ({"type": "StdinStdoutEvaluator"}, None, {"input_output": {"inputs": ["1"], "outputs": []}}, "test cases must be"),
    ({"type": "AccEvaluator"}, ["a"], {}, "needs a single value as the reference, not \\['a'\\]"),
    ({"type": "MusrEvaluator"}, "two", {}, "needs a whole number as the reference, not 'two'"),
    ({"type": "TabMWPEvaluator"}, "1", {}, "needs a mapping with answer and choices and unit"),
    ({"type": "EMEvaluator"}, None, {}, "needs text or a list of texts as the reference, not None"),
    ({"type": "EDAccEvaluator"}, {"label": 0}, {}, "needs a mapping with candidates and label"),
    ({"type": "AssertionTestsEvaluator"}, None, {"test_list": []}, "needs text or a list of texts as column 'test_list'"),
]


def check(evaluator: dict[str, Any], *rows: dict[str, Any]) -> None:
    dataset = spec(eval_cfg={"evaluator": evaluator})
    stage.check(dataset, samples_of((f"s{i}", row) for i, row in enumerate(rows)))


@pytest.mark.parametrize(("evaluator", "reference", "columns"), GOOD)
def test_fit_rows_pass(evaluator: dict[str, Any], reference: Any, columns: dict[str, Any]) -> None:
    check(evaluator, {"q": "?", "a": reference, **columns})


@pytest.mark.parametrize(("evaluator", "reference", "columns", "message"), BAD)
def test_unfit_rows_are_refused(evaluator: dict[str, Any], reference: Any, columns: dict[str, Any], message: str) -> None:
    good = next((gold, more) for known, gold, more in GOOD if known == evaluator)
    with pytest.raises(DataError, match=message):
        check(evaluator, {"q": "?", "a": good[0], **good[1]}, {"q": "?", "a": reference, **columns})


def test_a_column_that_only_some_rows_lack_is_refused() -> None:
    with pytest.raises(DataError, match="needs the column 'input_output'"):
        check({"type": "StdinStdoutEvaluator"}, {"a": "", "input_output": CASES}, {"a": ""})


def test_a_comparison_needs_an_output_column() -> None:
    samples = samples_of([("s0", {"q": "?"})])
    with pytest.raises(DataError, match="AccEvaluator compares with a reference, and reader_cfg names no output_column"):
        stage.check(spec(reader_cfg={"output_column": None}), samples)
    stage.check(spec(reader_cfg={"output_column": None}, eval_cfg={"evaluator": {"type": "AveragePPLEvaluator"}}), samples)


def test_pairs_are_counted_before_any_request() -> None:
    with pytest.raises(DataError, match="needs pairs of attacked and original rows, got 1 rows"):
        check({"type": "AccDropEvaluator"}, {"q": "?", "a": "a"})


def test_a_cascade_hands_the_rules_the_rows() -> None:
    with pytest.raises(DataError, match="needs a whole number"):
        check({"type": "RulesThenJudge", "rules": {"type": "MusrEvaluator"}, "question": "q"}, {"q": "?", "a": "two"})
