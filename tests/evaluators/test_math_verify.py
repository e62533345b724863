"""Two whole numbers are compared without algebra, and never otherwise than math-verify would."""

from __future__ import annotations

import random

import pytest

from evaluators.mathverify import MATHVerifyEvaluator, rated, verified, whole_numbers

BEFORE = [
    "",
    "The answer is ",
    "Thus $x = ",
    "5 + 7 = ",
    "50\\% is ",
    "\\frac{1}{2} gives $",
    "not 3 but $",
    "2^{",
    "- ",
    "\\$",
    "x=2, y=",
    "[(",
]
AFTER = [
    "",
    "$",
    "$.",
    ".",
    "\n",
    "$\nSo 7.",
    "\n\nCheck: $3+4=7$.",
    "\n\\frac{1}{2}",
    "\n50%",
    "\n\\%",
    "\n$$",
    "\n}",
    " \n",
    ". 7",
    "\\%",
    " cm",
    "^2",
]


def test_whole_numbers_get_math_verifys_verdict() -> None:
    draw = random.Random(7)
    seen = dict.fromkeys((True, False, None), 0)
    for _ in range(400):
        number = draw.choice([0, 1, -1, 7, 42, 100, 1234, 999_999_999, draw.randrange(-(10**6), 10**6)])
        reference = str(draw.choice([number, number, number + 1, -number, 10 * number, f"{number}.0", f"{number:,}"]))
        answer = f"{draw.choice(BEFORE)}\\boxed{{{number}}}{draw.choice(AFTER)}"
        verdict = whole_numbers(answer, reference)
        seen[verdict] += 1
        assert verdict is None or verdict == verified(answer, reference), (answer, reference)
    assert min(seen.values()) > 30, seen


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("\\boxed{1} and \\boxed{2}", "2"),
        ("\\boxed{1,000}", "1000"),
        ("\\boxed{07}", "7"),
        ("\\boxed{7}", "7.0"),
        ("\\boxed{7}\\%", "7"),
        ("\\boxed{7} cm", "7"),
        ("\\boxed{1234567890}", "1234567890"),
        ("7", "7"),
    ],
)
def test_anything_else_is_left_to_algebra(answer: str, reference: str) -> None:
    assert whole_numbers(answer, reference) is None


def denied(prediction: str, reference: str) -> bool:
    """A judge that takes nothing, so that a right answer was settled without it."""
    return False


def test_only_answers_that_text_does_not_settle_go_to_the_judge() -> None:
    ratings = rated(denied, ["so \\boxed{7}.", "\\boxed{8}", "\\boxed{7.0}"], [7, "9", "7.0"], whole_numbers)
    assert [rating.correct for rating in ratings] == [True, False, False]
    assert MATHVerifyEvaluator().measure(["so \\boxed{7}.", "\\boxed{7.0}"], [7, "7.0"]) == {"accuracy": 100.0}
