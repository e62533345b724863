"""How the number that a reply states is written; which one it states is for `test_replies` and the corpus."""

from __future__ import annotations

import pytest

from evaluators.extractors.number import final_number

WRITTEN = [
    ("Answer: 72", "72"),
    ("Answer: 1,234", "1234"),
    ("Answer: 12,345,678.90", "12345678.90"),
    ("Answer: 1,00,000", "100000"),
    ("Answer: 1 234", "1234"),
    ("Answer: $1{,}000$", "1000"),
    ("Answer: 1\\,500", "1500"),
    ("Answer: -8", "-8"),
    ("Answer: −8", "-8"),
    ("Answer: -$5", "-5"),
    ("Answer: $-5", "-5"),
    ("Answer: +5", "5"),
    ("Answer: $18.50", "18.50"),
    ("Answer: €20", "20"),
    ("Answer: 20 €", "20"),
    ("Answer: 45%", "45"),
    ("Answer: 45\\%", "45"),
    ("Answer: 12 km/h", "12"),
    ("Answer: 5cm", "5"),
    ("Answer: 7/8", "7/8"),
    ("Answer: $\\frac{7}{8}$", "7/8"),
    ("Answer: $-\\dfrac{3}{4}$", "-3/4"),
    ("Answer: 1 1/2", "3/2"),
    ("Answer: $2\\frac{1}{4}$", "9/4"),
    ("Answer: ½", "1/2"),
    ("Answer: 2½ hours", "5/2"),
    ("Answer: 1.5e3", "1.5e3"),
    ("Answer: 1.5 × 10^3", "1.5e3"),
    ("Answer: $6.02 \\times 10^{23}$", "6.02e23"),
    ("Answer: 3 × 10⁻⁴", "3e-4"),
    ("Answer: 2.5 million dollars", "2500000"),
    ("Answer: .5", "0.5"),
    ("Answer: ３４", "34"),
    ("答案是12个。", "12"),
    ("答案：3.5元", "3.5"),
]


@pytest.mark.parametrize(("reply", "number"), WRITTEN)
def test_a_number_is_read_in_all_its_forms(reply, number):
    found = final_number(reply)
    assert found.value == number
    assert found.start is not None
    assert any(c.isdigit() or c in "½¼" for c in reply[found.start : found.end])


@pytest.mark.parametrize("written", ["5 × 10⁻", "3 × 10⁻²⁻³", "1e" + "9" * 5000, "3 " + "1" * 5000 + "/7", "一" + "万" * 1100])
def test_a_number_that_cannot_be_converted_costs_an_answer_no_other_number(written):
    assert final_number(f"The answer is {written}\nSo the answer is 6.").value == "6"
    final_number(written)


@pytest.mark.timeout(30)
def test_a_power_of_ten_beyond_all_measure_is_not_computed_for_a_percentage():
    assert final_number("So 1e99999999 is 5 percent.\nThe answer is 6.").value == "6"
