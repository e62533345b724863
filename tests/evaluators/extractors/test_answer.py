from __future__ import annotations

import pytest

from evaluators.extractors.answer import final_answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Paris", "Paris"),
        ("  4.\n", "4"),
        ("Let me see.\nAnswer: Paris", "Paris"),
        ("It is 3.\n**Answer:** 4.5.", "4.5"),
        ("Answer: 3\nNo, wait.\nThe final answer is: **4**", "4"),
        ("2+2\n#### 1,234", "1,234"),
        ("So\n\\boxed{\\frac{1}{2}} is the answer.", "\\frac{1}{2}"),
        ("The answer is \\boxed{918273645546372819090}.", "918273645546372819090"),
        ("想一想。\n答案：巴黎。", "巴黎"),
        ("<think>Answer: 3</think>\nAnswer: 4", "4"),
        ("<think>Answer: 3", None),
        ("Several things\ncould be said.", None),
        ("It is\n\\boxed{4", None),
        ("", None),
    ],
)
def test_the_answer_stated_last(reply: str, answer: str | None) -> None:
    found = final_answer(reply)
    assert found.value == answer
    if found.value is not None:
        assert reply[found.start : found.end] == answer
