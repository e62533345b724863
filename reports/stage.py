"""summarize: cells' metrics and groups in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import COUNTS, SUMMARY, table_of
from leaderflow.core.errors import did_you_mean
from leaderflow.core.specs import Summarizer, SummaryGroup
from leaderflow.core.types import Json
from reports.groups import group_rows


@dataclass(frozen=True)
class Cell:
    """One scored cell: what the summary needs to know of it."""

    model: str
    dataset: str
    metrics: pa.Table
    counts: Mapping[str, int]
    version: str
    mode: str
    group: str | None = None
    expected: int | None = None
    """How many members the dataset's family has."""
    fields: Mapping[str, Any] = field(default_factory=dict)

    def identity(self) -> Json:
        """Return what of the cell enters the summary's key beside its metrics."""
        counts = {name: self.counts.get(name, 0) for name in COUNTS}
        own = [self.model, self.dataset, self.version, self.mode, self.group, self.expected]
        return [*own, counts]


def summarize(cells: Sequence[Cell], summarizer: Summarizer) -> pa.Table:
    """Return the SUMMARY table: a row for each metric of each cell, then the groups, each one's first metric first.

    `dataset_abbrs` picks and orders the rows; what it names and the run does not have is a row without a value.
    """
    rows = [row for cell in cells for row in cell_rows(cell)]
    summarizer = summarizer.model_copy(update={"summary_groups": [*summarizer.summary_groups, *_families(cells, summarizer)]})
    everything = [*rows, *group_rows(rows, summarizer)]
    if summarizer.dataset_abbrs is None:
        return table_of(SUMMARY, everything)
    return table_of(SUMMARY, [row for item in summarizer.dataset_abbrs for row in _chosen(item, everything)])


def cell_rows(cell: Cell) -> list[dict[str, Any]]:
    """Return a cell's rows of the summary, one a metric."""
    partial = cell.counts.get("n_failed", 0) > 0
    note = f"{cell.counts['n_failed']} of {cell.counts['n']} unanswered" if partial else None
    own = {"model": cell.model, "dataset": cell.dataset, "version": cell.version, "mode": cell.mode}
    counts = {name: cell.counts.get(name, 0) for name in COUNTS}
    return [{**own, **metric, **counts, "group": False, "partial": partial, "note": note} for metric in cell.metrics.to_pylist()]


def _chosen(item: str | list[str], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    name, metric = (item, None) if isinstance(item, str) else item
    of_name = [row for row in rows if row["dataset"] == name]
    found = [row for row in of_name if metric in (None, row["metric"])]
    return found or [_absent(name, metric, model, of_name, rows) for model in dict.fromkeys(row["model"] for row in rows)]


def _absent(
    name: str, metric: str | None, model: str, of_name: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    if of_name:
        known = dict.fromkeys(row["metric"] for row in of_name)
        note = f"has no metric {metric!r}; it has {', '.join(known)}"
    else:
        note = f"the run has no dataset or group of this name{did_you_mean(name, {row['dataset'] for row in rows})}"
    shown = {"model": model, "dataset": name, "metric": metric or "-", "higher_is_better": True, "group": False, "partial": True}
    return {**dict.fromkeys(SUMMARY.names), **dict.fromkeys(COUNTS, 0), **shown, "note": note}


def _families(cells: Sequence[Cell], summarizer: Summarizer) -> list[SummaryGroup]:
    """Return a group for every family of recipes that the summarizer does not define itself; one dataset is no family."""
    defined = {group.name for group in summarizer.summary_groups}
    members: dict[str, dict[str, None]] = {}
    expected: dict[str, int | None] = {}
    for cell in cells:
        if cell.group and cell.group not in defined:
            members.setdefault(cell.group, {})[cell.dataset] = None
            expected[cell.group] = cell.expected
    families = [SummaryGroup(name=name, subsets=list(own), expected=expected[name]) for name, own in members.items()]
    return [family for family in families if max(len(family.subsets), family.expected or 0) > 1]
