from __future__ import annotations

import math

import numpy as np
import pytest

from reports.paired import MCNEMAR, PERMUTATION, Difference, compare_scores


def flips(lost: int, gained: int, n: int) -> Difference:
    kept = n - lost - gained
    left = [1.0] * lost + [0.0] * gained + [1.0] * (kept // 2) + [0.0] * (kept - kept // 2)
    right = [0.0] * lost + [1.0] * gained + [1.0] * (kept // 2) + [0.0] * (kept - kept // 2)
    return compare_scores(left, right)


def test_a_planted_change_is_found_and_noise_is_not() -> None:
    planted = flips(45, 15, 1000)
    assert planted.test == MCNEMAR
    assert planted.difference.value == pytest.approx(-0.03)
    assert planted.p_value < 0.001
    assert planted.difference.high is not None
    assert planted.difference.high < 0
    noise = flips(18, 15, 1000)
    assert noise.p_value > 0.5
    assert noise.difference.low is not None
    assert noise.difference.high is not None
    assert noise.difference.low < 0 < noise.difference.high


def test_the_interval_is_that_of_agresti_and_min() -> None:
    found = flips(45, 15, 1000).difference
    size, gained, lost = 1002, 15.5, 45.5
    centre = (gained - lost) / size
    half = 1.959963985 * math.sqrt(gained + lost - (gained - lost) ** 2 / size) / size
    assert (found.low, found.high) == (pytest.approx(centre - half), pytest.approx(centre + half))


def test_identical_answers_still_say_what_could_have_been_seen() -> None:
    same = flips(0, 0, 100)
    assert (same.difference.value, same.p_value) == (0.0, 1.0)
    assert same.smallest == pytest.approx(0.06)
    assert same.difference.low is not None
    assert same.difference.low < 0
    assert flips(0, 0, 10_000).smallest == pytest.approx(0.0006, rel=0.01)
    assert flips(50, 50, 1000).smallest == pytest.approx(2.8 * 0.01, rel=0.05)


def test_graded_scores_are_permuted() -> None:
    rng = np.random.default_rng(1)
    left = rng.random(200)
    up = compare_scores(left.tolist(), np.minimum(1, left + 0.05).tolist())
    assert up.test == PERMUTATION
    assert up.p_value < 0.001
    assert up.difference.value == pytest.approx(0.05, abs=0.005)
    assert compare_scores([0.5, 1.0], [0.5, 1.0]).p_value == 1.0
    assert compare_scores([0.5], [0.25]).smallest is None


def test_samples_of_one_cluster_are_one_unit() -> None:
    left, right = [1.0] * 40, [0.0] * 20 + [1.0] * 20
    alone = compare_scores(left, right)
    together = compare_scores(left, right, ["a"] * 20 + ["b"] * 20)
    assert alone.p_value < 1e-4
    assert (together.test, together.p_value) == (PERMUTATION, 1.0)
    assert (together.difference.stderr or 0) > (alone.difference.stderr or 0)
    assert compare_scores(left, right, list(range(40))).test == MCNEMAR


@pytest.mark.parametrize("kind", ["binary", "graded"])
def test_ten_thousand_comparisons_without_a_difference(kind: str) -> None:
    rng, called, rounds = np.random.default_rng(7), 0, 10_000
    for _ in range(rounds):
        hard = rng.random(60)
        if kind == "binary":
            left, right = (rng.random(60) < hard).astype(float), (rng.random(60) < hard).astype(float)
        else:
            left, right = np.clip(hard + rng.normal(0, 0.2, (2, 60)), 0, 1)
        called += compare_scores(left.tolist(), right.tolist(), resamples=399).p_value < 0.05
    assert called / rounds <= 0.057
    assert called / rounds >= 0.01
