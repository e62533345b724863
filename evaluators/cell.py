"""From tables to rated items of a cell, and from ratings to its scores and metrics with their errors."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluators.base import Evaluator, Rating
from evaluators.repeats import metric_of, repeat_metrics
from leaderflow.core.artifacts import rows_of
from leaderflow.core.errors import DataError, did_you_mean
from leaderflow.core.statistics import Estimate, bootstrap, mean_estimate
from leaderflow.core.types import Json, Metric, Row, Score

if TYPE_CHECKING:
    import pyarrow as pa

_WORK = 500_000
_REFUSED = frozenset({"filtered", "rejected"})


@dataclass(frozen=True, slots=True)
class Item:
    """One sample × repeat that can be scored. `prediction` is None where nothing was extracted."""

    sample_id: str
    repeat: int
    status: str
    prediction: Json
    reference: Json
    row: Row
    cluster: str | None

    @property
    def refused(self) -> bool:
        """Whether the model never answered and never will: wrong whatever the evaluator says."""
        return self.status in _REFUSED


def items_of(extracted: pa.Table, samples: pa.Table, outputs: pa.Table, evaluator: Evaluator) -> list[Item]:
    """Join the tables of a cell, rows with status ``error`` left out.

    Raises:
        DataError: an extracted row without a sample, or a column that the evaluator or the clustering needs is absent.
    """
    rows = dict(rows_of(samples))
    column = evaluator.design.cluster_column
    check_columns(next(iter(rows.values()), {}), evaluator.needs | ({column} if column else set()), type(evaluator).__name__)
    items = []
    for line in extracted.to_pylist():
        row = rows.get(line["sample_id"])
        if row is None:
            raise DataError(
                f"the answer of sample {line['sample_id']!r} belongs to no sample of this dataset: read and infer differ"
            )
        if line["status"] != "error":
            cluster = None if column is None else _cluster(line["sample_id"], row.get(column))
            value, reference = _load(line["extracted"]), _load(line["reference"])
            items.append(Item(line["sample_id"], line["repeat"], line["status"], value, reference, row, cluster))
    return items


def check_columns(row: Row, needs: frozenset[str] | set[str], who: str) -> None:
    """See that a row has all columns that somebody needs.

    Raises:
        DataError: names the column, and the one that was perhaps meant.
    """
    for missing in sorted(needs - set(row)) if row else ():
        raise DataError(f"{who} needs the column {missing!r}, which the rows do not have{did_you_mean(missing, row)}")


def scores_of(items: Sequence[Item], ratings: Sequence[Rating]) -> list[Score]:
    """Return one score an item."""
    pairs = zip(items, ratings, strict=True)
    return [Score(i.sample_id, i.repeat, r.score, r.correct, i.cluster, r.detail) for i, r in pairs]


def metrics_of(evaluator: Evaluator, items: Sequence[Item], ratings: Sequence[Rating]) -> list[Metric]:
    """Return the metrics of a cell, the leading one first; those over repeats follow.

    Without any item, or where the metric does not exist for these samples, the leading metric has no value.
    """
    scale, higher = evaluator.unit(evaluator.metric)
    absent = [Metric(evaluator.metric, None, scale, higher_is_better=higher)]
    if not items:
        return absent
    clusters = clusters_of(items)
    try:
        measured = _means(evaluator, ratings, clusters) if evaluator.averages else _corpus(evaluator, items, ratings, clusters)
    except (DataError, ArithmeticError):  # one class only, nothing to divide by: a property of the data, not a fault of the run
        measured = absent
    return repeat_metrics(measured, items, ratings, evaluator.design.n, evaluator.design.k)


def clusters_of(items: Sequence[Item]) -> list[Hashable] | None:
    """Return what each item must be clustered by: the cluster column, else its sample where samples repeat, else None."""
    if any(item.cluster is not None for item in items):
        return [item.cluster for item in items]
    ids: list[Hashable] = [item.sample_id for item in items]
    return ids if len(set(ids)) < len(ids) else None


def _means(evaluator: Evaluator, ratings: Sequence[Rating], clusters: list[Hashable] | None) -> list[Metric]:
    metrics = []
    for name, value in evaluator.combine(ratings).items():
        estimate = _closed_form(evaluator, name, ratings, clusters)
        metrics.append(_scaled(evaluator, name, value, estimate))
    return metrics


def _closed_form(evaluator: Evaluator, name: str, ratings: Sequence[Rating], clusters: list[Hashable] | None) -> Estimate | None:
    """The mean of a metric's values and its error, in the metric's unit; None where no sample has a value."""
    rows = [i for i, rating in enumerate(ratings) if name in rating.values]
    if not rows:
        return None
    values = [ratings[i].values[name] for i in rows]
    binary = all(v in (0.0, 1.0) for v in values) and (name != evaluator.metric or ratings[rows[0]].correct is not None)
    found = mean_estimate(values, None if clusters is None else [clusters[i] for i in rows], binary=binary)
    return found.times(evaluator.unit(name)[0] or 1.0)


def _corpus(
    evaluator: Evaluator, items: Sequence[Item], ratings: Sequence[Rating], clusters: list[Hashable] | None
) -> list[Metric]:
    """Metrics that need not be means: each repeat is combined by itself, repeats are averaged.

    Errors come from resampled units, unless a metric turns out to be the mean of its values after all.
    """
    units: dict[Hashable, list[int]] = defaultdict(list)
    for i, item in enumerate(items):
        units[item.sample_id if clusters is None else clusters[i]].append(i)
    groups = list(units.values())

    def measured(chosen: Any) -> dict[str, float]:
        repeats: dict[int, list[Rating]] = defaultdict(list)
        for unit in chosen:
            for i in groups[unit]:
                repeats[items[i].repeat].append(ratings[i])
        parts = [evaluator.combine(part) for part in repeats.values()]
        return {name: sum(part.get(name, 0.0) for part in parts) / len(parts) for name in parts[0]}

    whole = measured(range(len(groups)))

    def redrawn(chosen: Any) -> list[float]:
        try:
            found = measured(chosen)
        except (ArithmeticError, DataError, ValueError):  # a draw may be degenerate: one class only, no spread
            found = whole
        return [found.get(name, value) for name, value in whole.items()]

    # the draws are bounded by the work one of them costs
    drawn: Sequence[Estimate | None] | None = bootstrap(len(groups), redrawn, resamples=max(100, min(1000, _WORK // len(ratings))))
    metrics = []
    for (name, value), estimate in zip(whole.items(), drawn or [None] * len(whole), strict=True):
        closed = _closed_form(evaluator, name, ratings, clusters)
        mean = closed is not None and math.isclose(closed.value, value, rel_tol=1e-9, abs_tol=1e-9)
        metrics.append(_scaled(evaluator, name, value, closed if mean else estimate))
    return metrics


def _scaled(evaluator: Evaluator, name: str, value: float, estimate: Estimate | None) -> Metric:
    scale, higher = evaluator.unit(name)
    return replace(metric_of(name, estimate or Estimate(value), scale, higher=higher), value=value)


def _load(text: str | None) -> Json:
    return None if text is None else json.loads(text)


def _cluster(sample_id: str, value: Json) -> str:
    """A row without a cluster is one by itself."""
    return _text({"sample_id": sample_id} if value is None else value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
