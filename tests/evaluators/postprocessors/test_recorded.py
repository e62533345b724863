"""Recorded postprocessors as configurations reach them: by name, with arguments, faults and errors included."""

from __future__ import annotations

import pytest

from evaluators.postprocessors.recorded import RECORDED
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.registry import bind, resolve

CASES = [
    ({"type": "general"}, "A value of 2.71", "value of 2"),
    ({"type": "first-capital"}, "Then B", "T"),
    ({"type": "first_option_postprocess", "options": "ABC"}, "The answer is B", "B"),
    ({"type": "first_option_postprocess", "options": "ABC", "cushion": False}, "maybe", ""),
    ({"type": "gsm8k"}, "in all 2,500", "500"),
    ({"type": "gsm8k"}, "nothing", "NULL"),
    ({"type": "gsm8k_dataset"}, "3+4=7\n#### 1,007", "1007"),
    ({"type": "bbh-mcq"}, "So the answer is (D).", "D"),
    ({"type": "mathbench_postprocess", "name": "cloze_en"}, "The answer is 3/4 of 8", "3/4"),
    ({"type": "mgsm_postprocess", "lang": "de"}, "Antwort: 1,200", "1200"),
    ({"type": "specific-xml-tag", "tag": "<city>"}, "<city>Oslo</city> <city> Bern </city>", "Bern"),
    ({"type": "match_answer_pattern", "answer_pattern": r"pick (\w)"}, "I pick C", "C"),
    ({"type": "math_postprocess_v2"}, "\\boxed{{x+1}}", "x+1"),
    ({"type": "extract-non-reasoning-content"}, "<think>never closed", "<think>never closed"),
    ({"type": "humaneval_postprocess_v2"}, "```python\nx = 1\n```", "x = 1\n"),
    ({"type": "general_eval_wrapper_postprocess"}, "3*4", 12),
    ({"type": "general_eval_wrapper_postprocess"}, "__import__('os').getcwd()", "__import__('os').getcwd()"),
]


@pytest.mark.parametrize(("config", "text", "value"), CASES)
def test_by_name(config, text, value):
    assert bind("postprocessor", config)(text) == value


def test_dotted_names_lead_to_the_same_functions():
    assert RECORDED["opencompass.datasets.gsm8k.gsm8k_postprocess"] == "gsm8k"
    assert RECORDED["opencompass.utils.text_postprocessors.first_option_postprocess"] == "first_option_postprocess"


@pytest.mark.parametrize(
    ("name", "text"),
    [("gsm8k_dataset", "no mark"), ("general", 5), ("extract_inverse_ifeval_score", "[1]"), ("generic_llmjudge_postprocess", {})],
)
def test_what_crashed_there_is_an_error_of_ours(name, text):
    with pytest.raises(DataError):
        resolve("postprocessor", name)(text)


def test_a_missing_argument_is_named():
    with pytest.raises(SpecError, match="options"):
        bind("postprocessor", {"type": "first_option_postprocess"})


def test_verdicts_are_summarised():
    output = {"0": {"prediction": "A"}, "1": {"prediction": "It is B"}, "2": {"prediction": "?"}, "3": {"prediction": "A"}}
    got = resolve("postprocessor", "generic_llmjudge_postprocess")(output)
    assert got["accuracy"] == 50.0
    assert got["not_attempted_count"] == 1
    assert got["f1"] == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3))
