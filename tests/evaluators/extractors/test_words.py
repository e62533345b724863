from __future__ import annotations

import pytest

from evaluators.extractors.words import answer_line, first_word


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Answer: M. G. Ramachandran", "M. G. Ramachandran"),
        ("He was first.\n**Answer:** the U.S. Electoral College", "the U.S. Electoral College"),
        ("Answer: Rome\nNo.\nFinal answer: Paris", "Paris"),
        ("答案：北京", "北京"),
        ('Answer: "1984"', "1984"),
        ("Mars", "Mars"),
        ("<think>Answer: Venus</think>Answer: Mars", "Mars"),
        ("Two lines\nand no answer", None),
        ("Answer:", None),
        ("the answer is *invalid*", "invalid"),
        ("So the answer is **Paris**.", "Paris"),
        ("Answer: $2.18 billion", "$2.18 billion"),
        ("Answer:\nx", None),
        ("", None),
    ],
)
def test_answer_lines(text: str, found: str | None) -> None:
    assert answer_line(text).value == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("signs.", "signs"),
        ("**Shane**, he said", "Shane"),
        ("“don't”", "don't"),
        ("…", None),
        ("", None),
        ("<think>no</think> yes", "yes"),
    ],
)
def test_first_words(text: str, found: str | None) -> None:
    assert first_word(text).value == found


def test_spans_point_into_the_reply() -> None:
    text = "Hm.\n**Answer:** _Paris_"
    found = answer_line(text)
    assert text[found.start : found.end] == found.value == "Paris"
