"""Replies of a model that loops are read to the end, without an answer and without an error."""

from __future__ import annotations

import pytest

from evaluators.extractors.boxed import boxed, final_answer
from evaluators.extractors.choice import choice_letter, choice_letters
from evaluators.extractors.code import code_block
from evaluators.extractors.number import final_number
from evaluators.extractors.structured import json_value, tag_content


@pytest.mark.parametrize(
    "piece", ["a", " ", "\n", "(", "{", "[", "\\boxed{", "<think>", "</think>", "```\n", "# ", "选", '"', "-", "the "]
)
@pytest.mark.parametrize(
    "extract", [boxed, final_answer, choice_letter, choice_letters, code_block, final_number, json_value, tag_content]
)
def test_a_loop_states_nothing(extract, piece):
    assert extract(piece * (10_000 // len(piece))).value is None
