"""What n answers to one question say together: avg@n, pass@k, pass^k, G-Pass@k, mG-Pass@k, majority@n.

All come from the one table of sample × repeat. Samples with fewer than k scored repeats are left out of a metric with k.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evaluators.normalise import number
from leaderflow.core.errors import SpecError
from leaderflow.core.statistics import Estimate, g_pass_at_k, mean_estimate, mg_pass_at_k, pass_at_k, pass_hat_k
from leaderflow.core.types import Json, Metric

if TYPE_CHECKING:
    from evaluators.base import Rating
    from evaluators.cell import Item

THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 1.0)


def repeat_metrics(
    metrics: list[Metric], items: Sequence[Item], ratings: Sequence[Rating], n: int, ks: Sequence[int]
) -> list[Metric]:
    """Return a cell's metrics with those over repeats: the leading one becomes ``avg@n``, binary ones get the others.

    Raises:
        SpecError: a k above the number of repeats.
    """
    repeats = max(n, 1 + max(item.repeat for item in items))
    if bad := [k for k in ks if k > repeats]:
        raise SpecError(f"pass@{bad[0]} needs at least {bad[0]} repeats of every sample, this cell has {repeats}: set n: {bad[0]}")
    if repeats == 1:
        return metrics
    leading = replace(metrics[0], name=f"avg@{repeats}")
    if any(rating.correct is None for rating in ratings):
        return [leading, *metrics[1:]]
    samples: dict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        samples[item.sample_id].append(position)
    counts = [(len(rows), sum(bool(ratings[row].correct) for row in rows), items[rows[0]].cluster) for rows in samples.values()]
    tails = [metric for k in ks for metric in _of_k(counts, k)]
    votes = [(_vote([items[r].prediction for r in rows]), rows, items[rows[0]].cluster) for rows in samples.values()]
    right = [(0.0 if v is None else float(bool(ratings[rows[v]].correct)), cluster) for v, rows, cluster in votes]
    return [leading, *tails, _mean(f"majority@{repeats}", right, binary=True), *metrics[1:]]


def majority(answers: Sequence[Json]) -> Json:
    """Return the answer most repeats gave, or None if all gave none; a tie goes to the answer that came first."""
    position = _vote(answers)
    return None if position is None else answers[position]


def _vote(answers: Sequence[Json]) -> int | None:
    """Position of the first answer of the largest group. Never looks at a reference; missing answers do not vote."""
    groups: dict[str, list[int]] = defaultdict(list)
    for position, answer in enumerate(answers):
        if answer not in (None, "", []):
            groups[_same(answer)].append(position)
    return max(groups.values(), key=len)[0] if groups else None


def _same(answer: Json) -> str:
    """Answers with one text here count together: numbers by value (1/2, 0.5, 0.50), other text without case and outer blanks."""
    value = number(answer)
    if value is not None:
        return str(value)
    return (answer if isinstance(answer, str) else json.dumps(answer, sort_keys=True)).strip().casefold()


def _of_k(counts: Sequence[tuple[int, int, str | None]], k: int) -> list[Metric]:
    def over(name: str, form: Callable[[int, int], float]) -> Metric:
        values = [(form(n, c), cluster) for n, c, cluster in counts if n >= k]
        return _mean(name, values, binary=all(value in (0.0, 1.0) for value, _ in values))

    if not any(n >= k for n, _, _ in counts):
        return []
    forms: dict[str, Callable[[int, int], float]] = {f"pass@{k}": lambda n, c: pass_at_k(n, c, k)}
    if k > 1:
        forms[f"pass^{k}"] = lambda n, c: pass_hat_k(n, c, k)
        forms |= {f"G-Pass@{k}_{t}": partial(_tail, k, t) for t in THRESHOLDS}
        forms[f"mG-Pass@{k}"] = lambda n, c: mg_pass_at_k(n, c, k)
    return [over(name, form) for name, form in forms.items()]


def _tail(k: int, threshold: float, n: int, correct: int) -> float:
    return g_pass_at_k(n, correct, k, threshold)


def _mean(name: str, values: Sequence[tuple[float, str | None]], *, binary: bool = False) -> Metric:
    numbers, clusters = [v for v, _ in values], [c for _, c in values]
    grouped = None if clusters[0] is None else clusters
    return metric_of(name, mean_estimate(numbers, grouped, binary=binary).times(100.0), 100.0)


def metric_of(name: str, estimate: Estimate, scale: float | None, *, higher: bool = True) -> Metric:
    """Return an estimate, which is in the metric's unit, as a metric."""
    return Metric(name, estimate.value, scale, estimate.stderr, estimate.low, estimate.high, higher)
