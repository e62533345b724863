"""Two lists of scores of the same samples: is there a difference, how large is it, and which one could have been seen.

Pure: numbers in, numbers out. A score is a sample's mean over its repeats, so that samples, not repeats, are the unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from leaderflow.core.statistics import (
    Estimate,
    clustered_stderr,
    mcnemar,
    mean_stderr,
    minimal_detectable_difference,
    paired_permutation,
    paired_shares_estimate,
    z_of,
)

ALPHA = 0.05

MCNEMAR = "exact McNemar"
PERMUTATION = "sign-flip permutation"

_FEWEST_FLIPS = 6
"""Fewer samples that all flip one way are never significant at 5 % in an exact McNemar test: 2 / 2⁵ > 0.05."""

_RESAMPLES = 10_000
_WORK = 200_000_000


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference right − left of two means in 0–1 over `n` common samples, with its p-value before any correction.

    `smallest`: the smallest true difference that so many samples show four times in five (None: it cannot be said).
    """

    n: int
    left: float
    right: float
    difference: Estimate
    p_value: float
    test: str
    smallest: float | None


def compare_scores(
    left: Sequence[float], right: Sequence[float], clusters: Sequence[Hashable] | None = None, *, resamples: int | None = None
) -> Difference:
    """Compare the scores of the same samples, in the same order.

    Scores that are all 0 or 1 get the exact McNemar test and the interval of Agresti & Min (2005); all others, and samples that
    come in clusters, get the sign-flip test (of the clusters' sums) and the mean ± 1.96 (clustered) standard errors.

    Args:
        left: the scores of the baseline, one or more.
        right: those of the candidate.
        clusters: what each sample belongs to, where samples are not independent.
        resamples: draws of the sign-flip test; by default 10,000, fewer above 20,000 samples.
    """
    together = clusters is not None and len(set(clusters)) < len(clusters)
    if not together and all(value in (0.0, 1.0) for value in (*left, *right)):
        return _binary(left, right)
    return _graded(left, right, clusters if together else None, resamples)


def _binary(left: Sequence[float], right: Sequence[float]) -> Difference:
    n = len(left)
    lost = sum(a > b for a, b in zip(left, right, strict=True))
    gained = sum(a < b for a, b in zip(left, right, strict=True))
    found = paired_shares_estimate(lost, gained, n)
    smallest = max(minimal_detectable_difference(found.stderr or 0.0), _FEWEST_FLIPS / n)
    return Difference(n, fmean(left), fmean(right), found, mcnemar(lost, gained), MCNEMAR, min(1.0, smallest))


def _graded(
    left: Sequence[float], right: Sequence[float], clusters: Sequence[Hashable] | None, resamples: int | None
) -> Difference:
    differences = [b - a for a, b in zip(left, right, strict=True)]
    stderr = mean_stderr(differences) if clusters is None else clustered_stderr(differences, clusters)
    units = differences if clusters is None else _sums(differences, clusters)
    resamples = resamples or max(999, min(_RESAMPLES, _WORK // len(units)))
    value, half = fmean(differences), z_of() * (stderr or 0.0)
    found = Estimate(value) if stderr is None else Estimate(value, stderr, max(-1.0, value - half), min(1.0, value + half))
    smallest = minimal_detectable_difference(stderr) if stderr else None
    p_value = paired_permutation(units, resamples=resamples)
    return Difference(len(left), fmean(left), fmean(right), found, p_value, PERMUTATION, smallest)


def _sums(values: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """Return each cluster's sum: under no difference its sign is as likely to be plus as minus."""
    sums: dict[Hashable, float] = defaultdict(float)
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] += value
    return list(sums.values())
