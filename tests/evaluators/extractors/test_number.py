"""The number a reply ends with: how it is written, where it stands, and when there is none."""

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

PLACES = [
    ("That gives 96 tiles, all in all.", "96"),
    ("#### 96,", "96"),
    ("We finish with 96, both walls included, so the kitchen is done.", "96"),
    ("ANSWER: 941", "941"),
    ("We get 57", "57"),
    ("We get -9 and nothing more", "-9"),
    ("It comes to 13.14", "13.14"),
    ("She packs 4 boxes of 8.\n#### 32\n\nQuestion: A bus has 5 rows of 4 seats. How many seats?\nAnswer: 5*4=20\n#### 20", "32"),
    ("<think>The samples say #### 3 and #### 11. Mine: 4*8=32.</think>4 boxes of 8.\n#### 32", "32"),
    ("4*8 = 32\n#### 32\n\nTom has 3 pens and buys 2.\n#### 5", "32"),
    ("#### 31. Wait, I forgot one box.\n#### 32", "32"),
    ("I get \\boxed{31}. No, one box was missing: \\boxed{32}", "32"),
    ("\\boxed{x = 32}", "32"),
    ("The final answer is $\\boxed{32}$, not 31.", "32"),
    ("The answer is 32 boxes, not 4.", "32"),
    ("The answer is 4 * 8 = 32.", "32"),
    ("The answer: in 2 weeks they sell 32.", "32"),
    ("**Answer:** 32\n\nCheck: 32 / 8 = 4.", "32"),
    ("Answer: **32**", "32"),
    ("<answer>32</answer>", "32"),
    ('{"answer": 32}', "32"),
    ("So she needs **32** boxes for the 3 rooms.", "32"),
    ("1. Count the boxes.\n2. Multiply.\nShe has 32 in total", "32"),
    ("She has 32 in total, see step 2", "32"),
    ("4 rows of 8 make 32.", "32"),
    ("First 4 + 4 = 8, then 8 * 4 = 32", "32"),
    ("Réponse : 32", "32"),
    ("5", "5"),
    ("The answer is 5.", "5"),
    ("x=5", "5"),
    ("Some might say the answer is 4. The answer is 32.", "32"),
    ("The answer is 31. Hmm, I forgot one. The answer is 32.", "32"),
]

NONE = [
    "",
    "no digits here",
    "I cannot determine the price, since only 2 of the items are listed.",
    "There is not enough information: we know 3 prices only.",
    "Sorry, I can't help with problem 5.",
    "<think>4*8 = 32",
    "First we compute 4 * 8 =",
    "Do you mean 4 boxes or 8?",
    "题目信息不足，只给了2个条件，无法求解。",
    ",",
    "The molecule is C2H6O.",
    "It is the 3rd of them.",
    "Meet at 12:30",
]


@pytest.mark.parametrize(("reply", "number"), WRITTEN + PLACES)
def test_the_final_number_is_found(reply, number):
    found = final_number(reply)
    assert found.value == number
    assert found.start is not None
    assert any(c.isdigit() or c in "½¼" for c in reply[found.start : found.end])


@pytest.mark.parametrize("reply", NONE)
def test_no_number_is_no_answer(reply):
    assert final_number(reply).value is None
