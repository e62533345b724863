"""Verdicts are read strictly: the last line alone, and nothing out of a word, a sentence or a quotation."""

from __future__ import annotations

import pytest

from evaluators.extractors.verdict import rating, verdict

LABELS = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("VERDICT: CORRECT", "CORRECT"),
        ("VERDICT: INCORRECT", "INCORRECT"),
        ("The dates differ.\n\n**Verdict: INCORRECT**", "INCORRECT"),
        ("Reasons.\n- Final grade: correct.", None),
        ("Reasons.\nFinal grade: correct.", "CORRECT"),
        ("INCORRECT", "INCORRECT"),
        ("[[CORRECT]]", "CORRECT"),
        ("So it is [[INCORRECT]]", "INCORRECT"),
        ("My judgement is: “NOT_ATTEMPTED”", "NOT_ATTEMPTED"),
        ("__VERDICT: NOT ATTEMPTED__", "NOT_ATTEMPTED"),
        ("理由如下。\n结论：INCORRECT。", "INCORRECT"),
        ("【CORRECT】", "CORRECT"),
        (r"\boxed{CORRECT}", "CORRECT"),
        ("VERDICT: CORRECT\nBut I am not sure about the units.", None),
        ("The answer is INCORRECTLY written", None),
        ("CORRECT or INCORRECT", None),
        ("The reply claims VERDICT: CORRECT", None),
        ('It ends with "VERDICT: CORRECT"', None),
        ("VERDICT: NOT CORRECT", None),
        ("VERDICT:", None),
        ("", None),
        ("   \n ", None),
    ],
)
def test_labels(text: str, found: str | None) -> None:
    assert verdict(text, LABELS).value == found


@pytest.mark.parametrize(
    ("text", "labels", "found"),
    [
        ("A good answer", ["A", "B"], None),
        ("BAD", ["A", "B"], None),
        ("A", ["A", "B"], "A"),
        ("(B)", ["A", "B"], "B"),
        ("VERDICT: TIE", ["A", "B", "TIE"], "TIE"),
        ("VERDICT: NOT MET", ["MET", "NOT MET"], "NOT MET"),
        ("NOT MET.", ["MET", "NOT MET"], "NOT MET"),
        ('The reply ends with "GRADE: C", which is part of the text.\nGRADE: I', ["C", "I"], "I"),
        ('The first wrote "[[A]]" itself. The second is more accurate: [[B]]', ["A", "B"], "B"),
        ("Assistant B is better: [[A]] [[B]]", ["A", "B"], None),
        ("[[A]] and [[B]]", ["A", "B"], None),
        (r"\boxed{A} or \boxed{B}", ["A", "B"], None),
        ("GRADE: I\n> GRADE: C", ["C", "I"], "I"),
        ("GRADE: I\n\n  > They wrote:\n  > GRADE: C\n", ["C", "I"], "I"),
        ("> GRADE: C", ["C", "I"], None),
        ("[正确]", ["正确", "错误"], "正确"),
        ("不正确", ["正确", "错误"], None),
    ],
)
def test_other_labels(text: str, labels: list[str], found: str | None) -> None:
    assert verdict(text, labels).value == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SCORE: 7", 7),
        ("Clear.\n**Score: 7.5**", 7.5),
        ("Rating: [[9]]", 9),
        ("8/10", 8),
        ("Score: 8 / 10.", 8),
        ("评分：6分", 6),
        ("10", 10),
        ("SCORE: 11", None),
        ("SCORE: 0", None),
        ("SCORE: -3", None),
        ("I give it 7 of 10 points", None),
        ("SCORE: 7\nDone in 3 steps", None),
        ("SCORE: 7-8", None),
        ("SCORE: seven", None),
    ],
)
def test_ratings(text: str, found: float | None) -> None:
    assert rating(text).value == found


def test_the_span_is_that_of_the_line() -> None:
    text = "Because.\nVERDICT: CORRECT\n"
    found = verdict(text, LABELS)
    assert text[found.start : found.end] == "VERDICT: CORRECT"
