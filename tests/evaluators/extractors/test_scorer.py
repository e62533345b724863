"""The score of a candidate is the sum of the weights of everything that is shown of it."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from evaluators.extractors import choice, number, scorer
from evaluators.extractors.features import of_candidates, of_none, pairs

TEXTS = [
    "Let's see. Option A is too broad, I think; B & C name no cause.\n\nSo the answer is D (see line 3).",
    "12 boxes of 8 make 96.\nWait, 2 are broken: 96 - 2 = 94.\n\n**So 94 are left.** Note: 94 is about 98% of 96.",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["choice", "number"])
def test_a_score_is_the_sum_of_all_weights(text, kind):
    fitted = json.loads(files("evaluators.extractors").joinpath("weights.json").read_text(encoding="utf-8"))
    turns = choice.passages(text, "ABCD", several=False) if kind == "choice" else number.passages(text)
    for _, passage in turns:
        for shown in ([of_none(passage)], of_candidates(passage, kind)):
            names = [[*each.found, *each.around, *pairs(each.signs)] for each in shown]
            assert all(len(set(own)) == len(own) for own in names)
            sums = [sum(fitted[part].get(name, 0.0) for part in ("shared", kind) for name in own) for own in names]
            assert scorer.score(shown, kind) == pytest.approx(sums)


def test_candidates_of_one_value_count_together():
    assert scorer.choose(["A", "B", "A"], [1.0, 1.5, 1.0], 0.0) == 0
    assert scorer.choose(["A", "B"], [1.0, 1.5], 0.0) == 1
    assert scorer.choose(["A", None], [1.0, 1.5], 0.0) is None
    assert scorer.choose(["A"], [-1.0], 0.0) is None
