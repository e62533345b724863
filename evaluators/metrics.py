"""From the ratings of a cell to its metrics with their errors."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluators.rated import Rated, numbered
from evaluators.ratings import Places
from evaluators.repeats import metric_of, repeat_metrics
from leaderflow.core.errors import DataError
from leaderflow.core.statistics import Estimate, bootstrap, mean_estimate
from leaderflow.core.types import Json, Metric

if TYPE_CHECKING:
    from evaluators.base import Evaluator

_WORK = 500_000


def metrics_of(evaluator: Evaluator, rated: Rated, predictions: Callable[[], Iterator[Json]]) -> list[Metric]:
    """Return the metrics of a cell, the leading one first; those over repeats follow.

    Without any row, or where the metric does not exist for these samples, the leading metric has no value. `predictions` gives
    those of the rows once more, for the vote of repeats.
    """
    scale, higher = evaluator.unit(evaluator.metric)
    absent = [Metric(evaluator.metric, None, scale, higher_is_better=higher)]
    if not len(rated):
        return absent
    clusters = clusters_of(rated)
    try:
        measured = _means(evaluator, rated, clusters) if evaluator.averages else _corpus(evaluator, rated, clusters)
    except (DataError, ArithmeticError):  # one class only, nothing to divide by: a property of the data, not a fault of the run
        measured = []
    return repeat_metrics(measured or absent, rated, predictions, evaluator.design.n, evaluator.design.k)


def clusters_of(rated: Rated) -> Places | None:
    """Return what each row must be clustered by: the cluster column, else its sample where samples repeat, else None."""
    if (clusters := rated.clusters) is not None:
        return clusters
    samples = rated.samples
    return samples if int(samples.max()) + 1 < len(samples) else None


def _means(evaluator: Evaluator, rated: Rated, clusters: Places | None) -> list[Metric]:
    metrics = []
    for name, value in evaluator.combine(rated.ratings).items():
        estimate = _closed_form(evaluator, name, rated, clusters)
        metrics.append(_scaled(evaluator, name, value, estimate))
    return metrics


def _closed_form(evaluator: Evaluator, name: str, rated: Rated, clusters: Places | None) -> Estimate | None:
    """The mean of a metric's values and its error, in the metric's unit; None where no sample has a value."""
    values, rows = rated.ratings.numbers(name), rated.ratings.places(name)
    if not values:
        return None
    binary = binary_only(values) and (name != evaluator.metric or rated.ratings.correct[rows[0]] >= 0)
    found = mean_estimate(values, None if clusters is None else clusters[rows], binary=bool(binary))
    return found.times(evaluator.unit(name)[0] or 1.0)


def binary_only(values: array[float]) -> bool:
    """Return whether all values are 0 or 1."""
    return bool(np.isin(np.frombuffer(values), (0.0, 1.0)).all())


def _corpus(evaluator: Evaluator, rated: Rated, clusters: Places | None) -> list[Metric]:
    """Metrics that need not be means: each repeat is combined by itself, repeats are averaged.

    Errors come from resampled units, unless a metric turns out to be the mean of its values after all.
    """
    units = Units(rated.samples if clusters is None else clusters)
    ratings, repeats = rated.ratings, rated.repeats
    single = not repeats.any()

    def measured(chosen: Places) -> dict[str, float]:
        rows = units.rows(chosen)
        if single:
            parts = [evaluator.combine(ratings.take(rows))]
        else:
            own = numbered(repeats[rows])
            parts = [evaluator.combine(ratings.take(rows[own == number])) for number in range(int(own.max()) + 1)]
        return {name: sum(part.get(name, 0.0) for part in parts) / len(parts) for name in parts[0]}

    whole = measured(np.arange(len(units)))

    def redrawn(chosen: Places) -> list[float]:
        try:
            found = measured(chosen)
        except (ArithmeticError, DataError, ValueError):  # a draw may be degenerate: one class only, no spread
            found = whole
        return [found.get(name, value) for name, value in whole.items()]

    # the draws are bounded by the work one of them costs
    drawn: Sequence[Estimate | None] | None = bootstrap(len(units), redrawn, resamples=max(100, min(1000, _WORK // len(rated))))
    metrics = []
    for (name, value), estimate in zip(whole.items(), drawn or [None] * len(whole), strict=True):
        closed = _closed_form(evaluator, name, rated, clusters)
        mean = closed is not None and math.isclose(closed.value, value, rel_tol=1e-9, abs_tol=1e-9)
        metrics.append(_scaled(evaluator, name, value, closed if mean else estimate))
    return metrics


class Units:
    """Rows by the unit that they are drawn with.

    Args:
        numbers: the unit of each row, from 0 on in the order in which units first come.
    """

    def __init__(self, numbers: Places) -> None:
        self._order: Any = np.argsort(numbers, kind="stable").astype(np.int32)
        self._sizes = np.bincount(numbers)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._single = len(self._sizes) == len(numbers)

    def __len__(self) -> int:
        return len(self._sizes)

    def rows(self, chosen: Places) -> Places:
        """Return the rows of some units, one unit after the other."""
        if self._single:
            return self._order[chosen]  # type: ignore[no-any-return]
        sizes = self._sizes[chosen]
        shift = self._starts[chosen] - (np.cumsum(sizes) - sizes)
        found: Places = self._order[np.repeat(shift, sizes) + np.arange(int(sizes.sum()))]
        return found


def _scaled(evaluator: Evaluator, name: str, value: float, estimate: Estimate | None) -> Metric:
    scale, higher = evaluator.unit(name)
    return replace(metric_of(name, estimate or Estimate(value), scale, higher=higher), value=value)
