from __future__ import annotations

import pytest

from readers.options import mixed, multiple_choice


def test_a_row_has_its_options_apart_and_together() -> None:
    row = multiple_choice(" Which? ", ["one", 2, "three"], 1, subject="sums")
    assert row == {
        "question": "Which?",
        "A": "one",
        "B": "2",
        "C": "three",
        "options": "A. one\nB. 2\nC. three",
        "answer": "B",
        "subject": "sums",
    }
    assert multiple_choice("q", ["x", "y"], " b ")["answer"] == "B"


@pytest.mark.parametrize("gold", [3, -1, "D", "AB", "", "*"])
def test_an_answer_that_is_no_option_is_refused(gold: int | str) -> None:
    with pytest.raises(ValueError, match="none of the 3 options"):
        multiple_choice("q", ["x", "y", "z"], gold)


def test_the_mixed_order_hangs_on_the_texts_alone() -> None:
    texts = [f"text {number}" for number in range(10)]
    assert mixed(texts) == mixed([*reversed(texts), "text 3"])
    assert mixed(texts) != texts
    assert sorted(mixed(texts)) == texts
