"""What n answers to one question say together: avg@n, pass@k, pass^k, G-Pass@k, mG-Pass@k, majority@n.

All come from the one table of sample × repeat. Samples with fewer than k scored repeats are left out of a metric with k.
"""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evaluators.normalise import number
from leaderflow.core.errors import SpecError
from leaderflow.core.statistics import Estimate, g_pass_at_k, mean_estimate, mg_pass_at_k, pass_at_k, pass_hat_k
from leaderflow.core.types import Json, Metric

if TYPE_CHECKING:
    from evaluators.rated import Rated
    from evaluators.ratings import Places

THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 1.0)


def repeat_metrics(
    metrics: list[Metric], rated: Rated, predictions: Callable[[], Iterator[Json]], n: int, ks: Sequence[int]
) -> list[Metric]:
    """Return a cell's metrics with those over repeats: the leading one becomes ``avg@n``, binary ones get the others.

    Raises:
        SpecError: a k above the number of repeats.
    """
    repeats = max(n, 1 + int(rated.repeats.max()))
    if bad := [k for k in ks if k > repeats]:
        raise SpecError(f"pass@{bad[0]} needs at least {bad[0]} repeats of every sample, this cell has {repeats}: set n: {bad[0]}")
    if repeats == 1:
        return metrics
    leading, correct = replace(metrics[0], name=f"avg@{repeats}"), rated.ratings.correct
    if (correct < 0).any():
        return [leading, *metrics[1:]]
    samples, clusters = rated.samples, rated.clusters
    asked = np.bincount(samples)
    right = np.bincount(samples, weights=correct).astype(np.int64)
    own = None if clusters is None else clusters[np.unique(samples, return_index=True)[1]]
    tails = [metric for k in ks for metric in _of_k(asked, right, own, k)]
    voted = array("d", (0.0 if row is None else float(correct[row]) for row in _votes(samples, predictions())))
    return [leading, *tails, _mean(f"majority@{repeats}", voted, own, binary=True), *metrics[1:]]


def _votes(samples: Places, predictions: Iterator[Json]) -> Iterator[int | None]:
    """Yield for each sample the row whose answer most of its repeats gave, None where none gave any."""
    ballots = np.fromiter((_ballot(prediction) for prediction in predictions), dtype=np.int64, count=len(samples))
    order = np.argsort(samples, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(samples))[:-1]) if len(order) else ():
        position = _first_of_most(ballots[rows].tolist())
        yield None if position is None else int(rows[position])


def majority(answers: Sequence[Json]) -> Json:
    """Return the answer most repeats gave, or None if all gave none; a tie goes to the answer that came first."""
    position = _vote(answers)
    return None if position is None else answers[position]


def _vote(answers: Sequence[Json]) -> int | None:
    """Position of the first answer of the largest group. Never looks at a reference; missing answers do not vote."""
    return _first_of_most([_ballot(answer) for answer in answers])


def _ballot(answer: Json) -> int:
    """What an answer votes for, 0 where it does not vote. 64 bits: two different answers to one sample do not meet by chance."""
    return 0 if answer in (None, "", []) else hash(_same(answer)) or 1


def _first_of_most(ballots: Sequence[int]) -> int | None:
    groups: dict[int, list[int]] = defaultdict(list)
    for position, ballot in enumerate(ballots):
        if ballot:
            groups[ballot].append(position)
    return max(groups.values(), key=len)[0] if groups else None


def _same(answer: Json) -> str:
    """Answers with one text here count together: numbers by value (1/2, 0.5, 0.50), other text without case and outer blanks."""
    value = number(answer)
    if value is not None:
        return str(value)
    return (answer if isinstance(answer, str) else json.dumps(answer, sort_keys=True)).strip().casefold()


def _of_k(asked: Places, right: Places, clusters: Places | None, k: int) -> list[Metric]:
    enough = asked >= k
    if not enough.any():
        return []
    pairs, which = np.unique(np.stack([asked[enough], right[enough]]), axis=1, return_inverse=True)
    own = None if clusters is None else clusters[enough]

    def over(name: str, form: Callable[[int, int], float]) -> Metric:
        forms = np.array([form(n, c) for n, c in pairs.T.tolist()], dtype=float)
        return _mean(name, array("d", forms[which.ravel()].tobytes()), own, binary=bool(np.isin(forms, (0.0, 1.0)).all()))

    forms: dict[str, Callable[[int, int], float]] = {f"pass@{k}": lambda n, c: pass_at_k(n, c, k)}
    if k > 1:
        forms[f"pass^{k}"] = lambda n, c: pass_hat_k(n, c, k)
        forms |= {f"G-Pass@{k}_{t}": partial(_tail, k, t) for t in THRESHOLDS}
        forms[f"mG-Pass@{k}"] = lambda n, c: mg_pass_at_k(n, c, k)
    return [over(name, form) for name, form in forms.items()]


def _tail(k: int, threshold: float, n: int, correct: int) -> float:
    return g_pass_at_k(n, correct, k, threshold)


def _mean(name: str, values: array[float], clusters: Places | None, *, binary: bool = False) -> Metric:
    return metric_of(name, mean_estimate(values, clusters, binary=binary).times(100.0), 100.0)


def metric_of(name: str, estimate: Estimate, scale: float | None, *, higher: bool = True) -> Metric:
    """Return an estimate, which is in the metric's unit, as a metric."""
    return Metric(name, estimate.value, scale, estimate.stderr, estimate.low, estimate.high, higher)
