"""Boxes and final answers in the reply's own words."""

from __future__ import annotations

import pytest

from evaluators.extractors.boxed import boxed, final_answer

BOXES = [
    ("First \\boxed{6}. No, a sign was lost: \\boxed{9}", "9"),
    ("\\boxed{\\frac{2}{3}}", "\\frac{2}{3}"),
    ("$\\boxed{\\sqrt{\\frac{a}{b}}}$", "\\sqrt{\\frac{a}{b}}"),
    ("\\boxed{ x^{2} + 1 }.", "x^{2} + 1"),
    ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
    ("\\boxed{\\boxed{7}}", "7"),
    ("\\boxed {7}", "7"),
    ("\\fbox{7}", "7"),
    ("thus \\boxed{\\frac{2}{3", None),
    ("\\boxed{4} and then \\boxed{\\frac{2}{3", "4"),
    ("\\boxed{}", None),
    ("no box", None),
    ("<think>\\boxed{1}</think>It is \\boxed{2}.", "2"),
    ("<think>\\boxed{1}", None),
    ("\\boxed{2}\n\nProblem: next one\n\\boxed{3}", "2"),
]

FINAL = [
    ("- The sky is blue.\nSo the answer is (C). ", "(C)"),
    ("So the answer is **(C)**.", "(C)"),
    ("So the answer is False.\n", "False"),
    ("So the answer is **invalid**.", "invalid"),
    ("Answer: Paris, France", "Paris, France"),
    ('The answer is "blue".', "blue"),
    ("The answer is $x^2$.", "x^2"),
    ("The answer is 3.5 metres.", "3.5 metres"),
    ("The answer is no, because it rains.", "no"),
    ("**Final Answer:** 42 cm", "42 cm"),
    ("答案是「北京」。", "北京"),
    ("#### 18", "18"),
    ("<answer> 7/8 </answer>", "7/8"),
    ("The answer is 6. Check... The answer is \\boxed{9}.", "9"),
    ("The answer is red. Wait. The answer is blue.", "blue"),
    ("I do not know.", None),
    ("If the answer is red, we are done", None),
    ("", None),
]


@pytest.mark.parametrize(("reply", "content"), BOXES)
def test_the_last_complete_box_counts(reply, content):
    found = boxed(reply)
    assert found.value == content
    assert content is None or reply[found.start : found.end] == content


@pytest.mark.parametrize(("reply", "answer"), FINAL)
def test_a_final_answer_is_found_without_what_wraps_it(reply, answer):
    found = final_answer(reply)
    assert found.value == answer
    assert answer is None or reply[found.start : found.end] == answer
