"""The scores of two cells, joined by `sample_id` and never by position, and what became of each sample."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from leaderflow.core.artifacts import METRICS
from leaderflow.core.manifest import CellEntry
from leaderflow.core.store import Store
from leaderflow.core.types import Json

Change = Literal["right→wrong", "wrong→right", "lower", "higher", "newly failed", "answered again"]

CHANGES: tuple[Change, ...] = ("right→wrong", "wrong→right", "lower", "higher", "newly failed", "answered again")


@dataclass(frozen=True)
class Sample:
    """One sample of a cell: its row as JSON text, the mean of its scored repeats (None: none was answered), its cluster."""

    row: str | None
    score: float | None
    cluster: str | None


@dataclass(frozen=True)
class Paired:
    """The common samples of two cells. `ids`, `left`, `right`, `clusters`: those that both answered, in the left one's order."""

    ids: list[str]
    left: list[float]
    right: list[float]
    clusters: list[str] | None
    changes: dict[str, Change]
    """Sample → what became of it, for those whose score is another one or that one side did not answer."""
    common: int
    alone: int
    """Samples that only one side has."""
    altered: int
    """Samples whose id is the same and whose row is not: they are no pair."""


def samples_of(store: Store, entry: CellEntry) -> dict[str, Sample]:
    """Return a cell's samples by id.

    Raises:
        StoreError: a table is missing or was altered.
    """
    rows = {row["sample_id"]: row["row"] for row in read(store, entry, "samples", ["sample_id", "row"])}
    scores: dict[str, list[float]] = defaultdict(list)
    clusters: dict[str, str | None] = {}
    for row in read(store, entry, "scores", ["sample_id", "score", "cluster"]):
        own = scores[row["sample_id"]]
        clusters[row["sample_id"]] = clusters.get(row["sample_id"]) or row["cluster"]
        if row["score"] is not None:
            own.append(row["score"])
    return {name: Sample(rows.get(name), fmean(own) if own else None, clusters[name]) for name, own in scores.items()}


def leading_metric(store: Store, entry: CellEntry) -> dict[str, Any]:
    """Return what a cell is compared by: its first metric where that is the mean of its scores, else that mean by name."""
    metric = next(read(store, entry, "metrics", METRICS.names))
    scores = [row["score"] for row in read(store, entry, "scores", ["score"]) if row["score"] is not None]
    mean = fmean(scores) * (metric["scale"] or 1.0) if scores else None
    if mean is None or metric["value"] is None or math.isclose(mean, metric["value"], rel_tol=1e-6, abs_tol=1e-9):
        return metric
    return {**metric, "metric": "mean score", "scale": 1.0, "higher_is_better": True}


def read(store: Store, entry: CellEntry, table: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a cell's table, shard after shard."""
    for ref in entry.tables.get(table, []):
        yield from store.read(ref).select(list(columns)).to_pylist()


def pair(left: Mapping[str, Sample], right: Mapping[str, Sample]) -> Paired:
    """Join two cells' samples."""
    shared = [name for name in left if name in right]
    common = [name for name in shared if left[name].row == right[name].row]
    both = [(name, left[name].score, right[name].score) for name in common]
    scored = [(name, a, b) for name, a, b in both if a is not None and b is not None]
    clusters = [left[name].cluster for name, _, _ in scored]
    changes = {name: change for name, a, b in both if (change := _change(a, b))}
    return Paired(
        ids=[name for name, _, _ in scored],
        left=[a for _, a, _ in scored],
        right=[b for _, _, b in scored],
        clusters=None if None in clusters else [cluster for cluster in clusters if cluster is not None],
        changes=changes,
        common=len(common),
        alone=len(left) + len(right) - 2 * len(shared),
        altered=len(shared) - len(common),
    )


def _change(left: float | None, right: float | None) -> Change | None:
    if left is None or right is None:
        return None if left == right else "newly failed" if right is None else "answered again"
    if left == right:
        return None
    if {left, right} == {0.0, 1.0}:
        return "right→wrong" if left > right else "wrong→right"
    return "lower" if left > right else "higher"


@dataclass(frozen=True)
class Text:
    """What a person needs to see of a flipped sample on one side. Untrusted: show it escaped."""

    outputs: list[str] = field(default_factory=list)
    extracted: list[Json] = field(default_factory=list)
    reference: Json = None


def texts_of(store: Store, entry: CellEntry, ids: set[str]) -> dict[str, Text]:
    """Return outputs, extractions and reference of some samples, a list entry a repeat."""
    found = {name: Text() for name in ids}
    for row in read(store, entry, "outputs", ["sample_id", "label", "output", "turns"]):
        if row["sample_id"] in ids and row["label"] is None:
            turns = json.loads(row["turns"]) if row["turns"] else [row["output"] or ""]
            found[row["sample_id"]].outputs.append("\n".join(turns))
    references: dict[str, Json] = {}
    for row in read(store, entry, "extracted", ["sample_id", "extracted", "reference"]):
        if row["sample_id"] in ids:
            found[row["sample_id"]].extracted.append(_json(row["extracted"]))
            references.setdefault(row["sample_id"], _json(row["reference"]))
    return {name: Text(text.outputs, text.extracted, references.get(name)) for name, text in found.items()}


def _json(text: str | None) -> Json:
    return None if text is None else json.loads(text)
