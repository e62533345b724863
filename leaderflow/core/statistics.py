"""Standard errors, intervals, tests and the closed forms of repeated sampling. Pure: numbers in, numbers out.

Units are those of the values. ``None`` means "cannot be said" (one sample has no spread); nothing here returns NaN.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, median
from typing import TYPE_CHECKING, Any, Union

from leaderflow.core.errors import DataError

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Estimate",
    "bootstrap",
    "clustered_stderr",
    "cohen_kappa",
    "g_pass_at_k",
    "holm",
    "krippendorff_alpha",
    "mcnemar",
    "mean_estimate",
    "mean_stderr",
    "median",
    "mg_pass_at_k",
    "minimal_detectable_difference",
    "paired_bootstrap",
    "paired_difference",
    "paired_permutation",
    "paired_shares_estimate",
    "pass_at_k",
    "pass_hat_k",
    "weighted_mean",
    "wilson",
]

_SEED = 20240229
_EXACT_UP_TO = 12
_BLOCK = 2_000_000
"""Numbers drawn at a time."""

Clusters = Union[Sequence[Hashable], "np.ndarray[Any, Any]"]
"""What each value belongs to: anything, or an array of numbers from 0 on."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its standard error and 95 % interval, all in the unit of the values."""

    value: float
    stderr: float | None = None
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit."""
        parts = (None if part is None else part * factor for part in (self.stderr, self.low, self.high))
        return Estimate(self.value * factor, *parts)


def mean_stderr(values: Sequence[float]) -> float | None:
    """Return s/√n with the sample deviation s (n−1 below), or None for fewer than two values."""
    if len(values) < 2:
        return None
    centre = fmean(values)
    return math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (len(values) - 1) / len(values))


def clustered_stderr(values: Sequence[float], clusters: Clusters) -> float | None:
    """Return the cluster-robust standard error of the mean, with the G/(G−1) correction; None for fewer than two clusters.

    Deviations are summed within a cluster before they are squared (Liang & Zeger 1986; Miller 2024, "Adding error bars to
    evals"). With clusters of one it equals `mean_stderr`.
    """
    import numpy as np

    centre, numbers = fmean(values), _numbers(clusters)
    groups = _groups(clusters)
    if groups < 2:
        return None
    sums = np.bincount(numbers, weights=np.asarray(values, dtype=float) - centre)
    return math.sqrt(math.fsum((sums * sums).tolist()) * groups / (groups - 1)) / len(values)


def _numbers(clusters: Clusters) -> np.ndarray[Any, Any]:
    import numpy as np

    if isinstance(clusters, np.ndarray):
        return clusters
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(cluster, len(known)) for cluster in clusters])


def _groups(clusters: Clusters) -> int:
    """How many different clusters there are."""
    import numpy as np

    return int(np.count_nonzero(np.bincount(_numbers(clusters))))


def z_of(confidence: float = 0.95) -> float:
    """Return the two-sided normal quantile, 1.96 for 95 %."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share out of `n` trials; `n` may be an effective size (Wilson 1927)."""
    z2 = z_of(confidence) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def mean_estimate(
    values: Sequence[float], clusters: Clusters | None = None, *, binary: bool = False, confidence: float = 0.95
) -> Estimate:
    """Return the mean of values in 0–1 with its standard error and interval.

    Binary values get Wilson's interval; clustered ones with the effective size p(1−p)/stderr², at most n and, where all values
    agree, the number of clusters. Other values get mean ± z·stderr, cut to 0–1 if all values lie there.

    Raises:
        DataError: no values.
    """
    if not values:
        raise DataError("nothing was scored, so there is no mean: the cell has no sample with an answer")
    value = fmean(values)
    stderr = mean_stderr(values) if clusters is None else clustered_stderr(values, clusters)
    if binary:
        low, high = wilson(value, _effective_size(values, clusters, value, stderr), confidence)
        return Estimate(value, stderr, low, high)
    if stderr is None:
        return Estimate(value)
    half, bounded = z_of(confidence) * stderr, min(values) >= 0 and max(values) <= 1
    low, high = value - half, value + half
    return Estimate(value, stderr, max(0.0, low) if bounded else low, min(1.0, high) if bounded else high)


def _effective_size(values: Sequence[float], clusters: Clusters | None, share: float, stderr: float | None) -> float:
    if clusters is None:
        return len(values)
    spread = share * (1 - share)
    return min(len(values), spread / stderr**2) if stderr and spread else _groups(clusters)


def weighted_mean(values: Sequence[float], stderrs: Sequence[float | None], weights: Sequence[float] | None = None) -> Estimate:
    """Return the weighted mean of independent estimates and the error of that same mean: √Σ(wᵢsᵢ)²/Σwᵢ.

    Without weights all count alike. The error is None if one of the members' is.
    """
    weights = weights or [1.0] * len(values)
    total = math.fsum(weights)
    value = math.fsum(w * v for w, v in zip(weights, values, strict=True)) / total
    if any(s is None for s in stderrs):
        return Estimate(value)
    stderr = math.sqrt(math.fsum((w * s) ** 2 for w, s in zip(weights, stderrs, strict=True) if s is not None)) / total
    half = z_of() * stderr
    return Estimate(value, stderr, value - half, value + half)


def bootstrap(
    size: int, statistic: Callable[[Any], Sequence[float]], *, resamples: int = 1000, seed: int = _SEED, confidence: float = 0.95
) -> list[Estimate] | None:
    """Return percentile bootstraps of several statistics of `size` units (Efron 1979), or None for fewer than two units.

    Args:
        size: number of independent units (samples, or clusters).
        statistic: takes an int array of unit positions of shape (size,) and returns the statistics of these units, always as many.
        resamples: how many draws. They are rows of one matrix, drawn some rows at a time: the result depends on the seed alone.
        seed: seeds the draw.
        confidence: of the interval.
    """
    if size < 2:
        return None
    import numpy as np

    rng, found, at_once = np.random.default_rng(seed), list[Sequence[float]](), max(1, _BLOCK // size)
    while len(found) < resamples:
        draws = rng.integers(size, size=(min(at_once, resamples - len(found)), size), dtype=np.int32)
        found += [statistic(row) for row in draws]
    values = np.array(found, dtype=float)
    whole = statistic(np.arange(size))
    low, high = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2], axis=0)
    errors = values.std(axis=0, ddof=1)
    return [Estimate(float(v), float(e), float(lo), float(hi)) for v, e, lo, hi in zip(whole, errors, low, high, strict=True)]


def mcnemar(only_left: int, only_right: int) -> float:
    """Return the exact two-sided p-value of McNemar's test from the two counts of disagreement (McNemar 1947)."""
    n, fewer = only_left + only_right, min(only_left, only_right)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(fewer + 1)) / (1 << n))


def paired_shares_estimate(only_left: int, only_right: int, n: int) -> Estimate:
    """Return the difference right − left of two shares over the same `n` samples, from the two counts of disagreement.

    The interval and its error are those of Agresti & Min (2005): half a sample is added to each cell of the 2 × 2 table, so that
    they hold for few disagreements too; cut to −1…1.
    """
    size, gained, lost = n + 2, only_right + 0.5, only_left + 0.5
    centre = (gained - lost) / size
    stderr = math.sqrt(gained + lost - (gained - lost) ** 2 / size) / size
    half = z_of() * stderr
    return Estimate((only_right - only_left) / n, stderr, max(-1.0, centre - half), min(1.0, centre + half))


def paired_permutation(differences: Sequence[float], *, resamples: int = 10_000, seed: int = _SEED) -> float:
    """Return the two-sided p-value of the sign-flip test of mean difference 0: exact up to 12 pairs, else (1+hits)/(1+draws)."""
    import numpy as np

    values = np.asarray([d for d in differences if d], dtype=float)
    if not len(values):
        return 1.0
    observed = abs(values.sum()) * (1 - 1e-12)
    if len(values) <= _EXACT_UP_TO:
        bits = np.arange(2 ** len(values))[:, None] >> np.arange(len(values)) & 1
        return float(np.mean(np.abs((bits * 2 - 1) @ values) >= observed))
    rng, hits, done = np.random.default_rng(seed), 0, 0
    while done < resamples:
        rows = min(resamples - done, max(1, _BLOCK // len(values)))
        signs = rng.integers(2, size=(rows, len(values)), dtype=np.int8) * 2 - 1
        hits, done = hits + int(np.sum(np.abs(signs @ values) >= observed)), done + rows
    return (1 + hits) / (1 + resamples)


def paired_difference(left: Sequence[float], right: Sequence[float], clusters: Clusters | None = None) -> Estimate:
    """Return the mean of left − right over the same samples, its standard error (clustered where told) and 95 % interval."""
    differences = [a - b for a, b in zip(left, right, strict=True)]
    value = fmean(differences)
    stderr = mean_stderr(differences) if clusters is None else clustered_stderr(differences, clusters)
    half = None if stderr is None else z_of() * stderr
    return Estimate(value, stderr, None if half is None else value - half, None if half is None else value + half)


def paired_bootstrap(differences: Sequence[float], *, resamples: int = 1000, seed: int = _SEED) -> Estimate | None:
    """Return the mean of paired differences with its bootstrap error and 95 % interval."""
    import numpy as np

    values = np.asarray(differences, dtype=float)

    def mean_of(rows: np.ndarray[Any, Any]) -> list[float]:
        return [float(values[rows].mean())]

    found = bootstrap(len(values), mean_of, resamples=resamples, seed=seed)
    return found[0] if found else None


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values in the order given (Holm 1979)."""
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def minimal_detectable_difference(stderr: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest true difference found with `power` at level `alpha`, given the difference's standard error."""
    return (z_of(1 - alpha) + NormalDist().inv_cdf(power)) * stderr


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the chance that at least one of k answers drawn from n is correct: 1 − C(n−c,k)/C(n,k) (Chen et al. 2021)."""
    return _at_least(n, correct, k, 1)


def pass_hat_k(n: int, correct: int, k: int) -> float:
    """Return the chance that all of k answers drawn from n are correct: C(c,k)/C(n,k), pass^k (Yao et al. 2024, τ-bench)."""
    return _at_least(n, correct, k, k)


def g_pass_at_k(n: int, correct: int, k: int, threshold: float) -> float:
    """Return G-Pass@k_τ: the chance that at least max(⌈τk⌉, 1) of k answers are correct (Liu et al. 2024)."""
    return _at_least(n, correct, k, max(math.ceil(k * threshold), 1))


def mg_pass_at_k(n: int, correct: int, k: int) -> float:
    """Return mG-Pass@k: (2/k)·Σ over i from ⌈k/2⌉+1 to k of the chance that at least i of k are correct (Liu et al. 2024)."""
    return 2 / k * math.fsum(_at_least(n, correct, k, i) for i in range(math.ceil(k / 2) + 1, k + 1))


def _at_least(n: int, correct: int, k: int, least: int) -> float:
    if not 1 <= k <= n:
        raise DataError(f"k = {k} answers cannot be drawn from n = {n}: k must be between 1 and the number of repeats")
    ways = sum(math.comb(correct, i) * math.comb(n - correct, k - i) for i in range(least, min(correct, k) + 1))
    return ways / math.comb(n, k)


def cohen_kappa(left: Sequence[Hashable], right: Sequence[Hashable]) -> float | None:
    """Return Cohen's kappa of two raters of the same units (Cohen 1960), or None where both give one label only."""
    n = len(left)
    if not n:
        return None
    agreed = sum(a == b for a, b in zip(left, right, strict=True)) / n
    counts = Counter(left), Counter(right)
    chance = sum(count * counts[1][label] for label, count in counts[0].items()) / n**2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def krippendorff_alpha(units: Sequence[Sequence[Hashable]], *, interval: bool = False) -> float | None:
    """Return Krippendorff's alpha of any number of raters, missing values left out (Krippendorff 2011).

    Args:
        units: the values that each unit got; units with fewer than two say nothing.
        interval: values are numbers and differ by their squared distance; by default they are equal or not.

    Returns:
        Alpha, or None where no unit has two values or all values are the same.
    """
    rated = [unit for unit in units if len(unit) > 1]
    if not rated:
        return None
    total = sum(map(len, rated))
    observed = math.fsum(_disagreement(Counter(unit), interval) / (len(unit) - 1) for unit in rated)
    expected = _disagreement(Counter(value for unit in rated for value in unit), interval)
    return None if not expected else 1 - (total - 1) * observed / expected


def _disagreement(counts: Counter[Any], interval: bool) -> float:
    """Sum of the distances of all ordered pairs of values."""
    n = counts.total()
    if not interval:
        return float(n * n - sum(count * count for count in counts.values()))
    mean = math.fsum(value * count for value, count in counts.items()) / n
    return 2 * n * math.fsum(count * (value - mean) ** 2 for value, count in counts.items())
