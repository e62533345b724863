from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from leaderflow.core import statistics as s
from leaderflow.core.errors import DataError

RNG = np.random.default_rng(7)


def test_mean_stderr_equals_scipy() -> None:
    values = RNG.random(40).tolist()
    assert s.mean_stderr(values) == pytest.approx(stats.sem(values))
    assert s.mean_stderr([0.5]) is None


def test_clustered_stderr() -> None:
    repeats = [1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1]
    clusters = [i // 3 for i in range(15)]
    assert s.clustered_stderr(repeats, clusters) == pytest.approx(0.194365, abs=1e-6)
    assert s.clustered_stderr(repeats, range(15)) == pytest.approx(stats.sem(repeats))
    assert s.clustered_stderr([1, 0], ["one", "one"]) is None


def test_clustered_stderr_covers_the_truth_where_the_plain_one_does_not() -> None:
    rng, plain, clustered = np.random.default_rng(0), 0, 0
    for _ in range(300):
        shares = rng.beta(1, 1, size=60)
        values = (rng.random((60, 8)) < shares[:, None]).astype(float).ravel().tolist()
        mean = float(np.mean(values))
        plain += abs(mean - 0.5) <= 1.96 * (s.mean_stderr(values) or 0)
        clustered += abs(mean - 0.5) <= 1.96 * (s.clustered_stderr(values, [i // 8 for i in range(480)]) or 0)
    assert clustered / 300 > 0.92 > plain / 300


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 20), (7, 20), (50, 164), (999, 1000)])
def test_wilson_equals_scipy(right: int, n: int) -> None:
    expected = stats.binomtest(right, n).proportion_ci(method="wilson")
    assert s.wilson(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_clustered_wilson_uses_the_effective_size() -> None:
    values, clusters = [1.0] * 30 + [0.0] * 30, [i // 10 for i in range(60)]
    found = s.mean_estimate(values, clusters, binary=True)
    assert found.stderr is not None
    assert (found.low, found.high) == s.wilson(0.5, 0.25 / found.stderr**2)
    agreed = s.mean_estimate([1.0] * 60, clusters, binary=True)
    assert (agreed.low, agreed.high) == s.wilson(1.0, 6)


def test_interval_of_a_mean_stays_in_its_range() -> None:
    found = s.mean_estimate([0.9, 1.0, 0.99, 0.7])
    assert found.high == 1.0
    assert s.mean_estimate([3.0, 5.0]).high == pytest.approx(4 + 1.959964, abs=1e-6)
    with pytest.raises(DataError, match="nothing was scored"):
        s.mean_estimate([])


def test_bootstrap_equals_the_closed_form_and_its_seed() -> None:
    values = RNG.random(200)
    found = s.bootstrap(200, lambda rows: [values[rows].mean(), values[rows].max()], resamples=2000)
    assert found is not None
    assert found[0].value == pytest.approx(values.mean())
    assert found[0].stderr == pytest.approx(stats.sem(values), rel=0.08)
    assert found == s.bootstrap(200, lambda rows: [values[rows].mean(), values[rows].max()], resamples=2000)
    assert s.bootstrap(1, lambda rows: [0.0]) is None


def test_a_bootstrap_drawn_some_rows_at_a_time_is_the_one_of_one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    values = RNG.random(173)
    whole = s.bootstrap(173, lambda rows: [values[rows].mean()], resamples=211)
    for block in (1, 173 * 3, 173 * 100):
        monkeypatch.setattr(s, "_BLOCK", block)
        assert s.bootstrap(173, lambda rows: [values[rows].mean()], resamples=211) == whole


def test_clusters_may_be_numbers_in_an_array() -> None:
    values, names = RNG.random(60).tolist(), [f"c{i % 7}" for i in range(60)]
    numbers = np.array([2 * (i % 7) for i in range(60)])
    assert s.mean_estimate(values, numbers) == s.mean_estimate(values, names)
    assert s.mean_estimate([1.0] * 60, numbers, binary=True) == s.mean_estimate([1.0] * 60, names, binary=True)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (5, 1), (10, 30), (300, 240)])
def test_mcnemar_equals_scipy(left: int, right: int) -> None:
    expected = stats.binomtest(left, left + right).pvalue if left + right else 1.0
    assert s.mcnemar(left, right) == pytest.approx(expected)


def test_permutation_equals_scipy() -> None:
    few = [0.3, -0.1, 0.2, 0.5, 0.1, -0.4, 0.6, 0.0]
    exact = stats.permutation_test((few,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided").pvalue
    assert s.paired_permutation(few) == pytest.approx(exact)
    many = RNG.normal(0.1, 1, 200).tolist()
    assert s.paired_permutation(many) == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.02)
    assert s.paired_permutation([0, 0]) == 1.0


def test_paired_difference_equals_scipy() -> None:
    left, right = RNG.random(50).tolist(), RNG.random(50).tolist()
    found = s.paired_difference(left, right)
    expected = stats.ttest_rel(left, right)
    assert found.stderr is not None
    assert found.value / found.stderr == pytest.approx(expected.statistic)
    assert s.paired_difference([1.0, 1.0, 0.0], [0.0, 1.0, 0.0]).low < 0  # type: ignore[operator]
    assert s.paired_difference([1.0], [0.0]).stderr is None


def test_paired_bootstrap_is_the_bootstrap_of_differences() -> None:
    found = s.paired_bootstrap([0.0, 1.0, -1.0, 1.0] * 50)
    assert found is not None
    assert (found.value, found.stderr) == (0.25, pytest.approx(stats.sem([0.0, 1.0, -1.0, 1.0] * 50), rel=0.1))


def test_holm() -> None:
    assert s.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert s.holm([0.6, 0.9]) == [1.0, 1.0]


def test_minimal_detectable_difference_has_the_stated_power() -> None:
    found = s.minimal_detectable_difference(0.02)
    assert stats.norm.sf(stats.norm.isf(0.025) - found / 0.02) == pytest.approx(0.8)


def test_weighted_mean_has_its_own_error() -> None:
    errors = [math.sqrt(0.25 / 9), math.sqrt(0.09 / 999)]
    plain, weighted = s.weighted_mean([0.5, 0.9], errors), s.weighted_mean([0.5, 0.9], errors, [10, 1000])
    assert (plain.value, plain.stderr) == (pytest.approx(0.7), pytest.approx(0.0834684, abs=1e-6))
    assert (weighted.value, weighted.stderr) == (pytest.approx(0.8960396), pytest.approx(0.0095414, abs=1e-6))
    assert s.weighted_mean([1.0, 0.0], [None, 0.1]).stderr is None


def test_median_of_an_even_number_lies_between() -> None:
    assert (s.median([0.0, 1.0]), s.median([1, 2, 3, 4])) == (0.5, 2.5)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 2, 2), (6, 3, 3), (5, 0, 4), (5, 5, 2), (7, 1, 4)])
def test_closed_forms_equal_simulation(n: int, c: int, k: int) -> None:
    """All draws, counted one by one."""
    draws = [sum(i < c for i in draw) for draw in itertools.combinations(range(n), k)]
    share = {least: sum(d >= least for d in draws) / len(draws) for least in range(k + 1)}
    assert s.pass_at_k(n, c, k) == pytest.approx(share[1])
    assert s.pass_hat_k(n, c, k) == pytest.approx(share[k])
    for t in (0.0, 0.25, 0.5, 0.75, 1.0):
        assert s.g_pass_at_k(n, c, k, t) == pytest.approx(share[max(math.ceil(k * t), 1)])
    assert s.mg_pass_at_k(n, c, k) == pytest.approx(2 / k * sum(share[i] for i in range(math.ceil(k / 2) + 1, k + 1)))
    assert s.pass_at_k(n, c, k) == pytest.approx(stats.hypergeom(n, c, k).sf(0))


def test_k_above_n_is_refused() -> None:
    with pytest.raises(DataError, match="k = 10 answers cannot be drawn from n = 1"):
        s.pass_at_k(1, 1, 10)


KRIPPENDORFF = [  # the example of Krippendorff (2011): four observers, twelve units, missing values left out
    *([1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2]),
    *([5, 5, 5], [1, 1], [3]),
]


def test_krippendorff_alpha_equals_the_published_example() -> None:
    assert s.krippendorff_alpha(KRIPPENDORFF) == pytest.approx(0.743, abs=5e-4)
    assert s.krippendorff_alpha(KRIPPENDORFF, interval=True) == pytest.approx(0.849, abs=5e-4)
    assert s.krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert s.krippendorff_alpha([[1], []]) is None
    assert s.krippendorff_alpha([[1], []], interval=True) is None


def test_cohen_kappa_equals_sklearn() -> None:
    from sklearn.metrics import cohen_kappa_score

    left, right = list("AABBCCABCA"), list("AABCCCABBB")
    assert s.cohen_kappa(left, right) == pytest.approx(cohen_kappa_score(left, right))
    assert s.cohen_kappa("AAAA", "AAAA") is None
    assert s.cohen_kappa("ABAB", "BABA") == -1.0
    assert s.cohen_kappa([], []) is None
