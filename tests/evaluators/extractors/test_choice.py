"""Where a stated option stands, and how options are named; which one a reply states is for `test_replies` and the corpus."""

from __future__ import annotations

import pytest

from evaluators.extractors.choice import choice_letter, choice_letters
from evaluators.extractors.options import named


@pytest.mark.parametrize(
    ("reply", "options", "letter", "written"),
    [
        ("综上所述，本题答案为：Ｄ。", "ABCD", "D", "Ｄ"),
        ("answer: c", "ABCD", "C", "c"),
        ("So the answer is **(B)**.", "ABCD", "B", "B"),
        ("Answer is 2", "0123", "2", "2"),
        ("<think>The answer is A? No.</think>The answer is B.", "ABCD", "B", "B"),
        ("Answer: B\n\nQuestion: What is the capital of Spain?\nAnswer: D", "ABCD", "B", "B"),
    ],
)
def test_an_option_is_found_where_it_stands(reply, options, letter, written):
    found = choice_letter(reply, options)
    assert found.value == letter
    assert reply[found.start : found.end] == written


def test_several_options_come_in_their_own_order():
    assert choice_letters("Answer: D, B and C").value == "BCD"
    assert choice_letter("Answer: D, B and C").value is None


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("A, B and C", [("ABC", False)]),
        ("A or B", [("AB", True)]),
        ("A/B", [("AB", True)]),
        ("options A to D", [("ABCD", False)]),
        ("B, C is wrong", [("B", False), ("C", False)]),
        ("Between B and C, B fits", [("BC", False), ("B", False)]),
        ("A,B、C、D都不对", [("A", False), ("BCD", False)]),
        ("A good answer is B", [("B", False)]),
        ("It's c", [("C", False)]),
        ("a, b, or so", [("A", False)]),
        ("故选AC", [("AC", False)]),
        ("Looking at it, I think B", [("B", False)]),
        ("f(x) = C", [("C", False)]),
        ("E = mc", []),
        ("The U.S.A. and so on", []),
    ],
)
def test_labels_that_stand_together_are_named_together(text, labels):
    assert [(group.labels, group.either) for group in named(text, "ABCDEI")] == labels


@pytest.mark.timeout(30)
def test_a_reply_that_loops_over_labels_is_read_in_time_that_grows_with_its_length():
    assert choice_letter("A, " * 20_000).value == "A"
