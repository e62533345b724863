"""Summary groups: rows of the leaderboard that are made of others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderflow.core.artifacts import COUNTS
from leaderflow.core.identity import canonical_json, sha256_hex
from leaderflow.core.specs import Summarizer, SummaryGroup
from leaderflow.core.statistics import z_of
from reports.combine import Combination, Member, propagated, way_of

Row = Mapping[str, Any]

NAMED_MISSING = 5
"""So many missing members are named, the others counted."""


@dataclass(frozen=True)
class Figure:
    """A number of a dataset or group. `errors`: what each dataset adds to its standard error (None: it cannot be said)."""

    value: float | None
    scale: float | None
    higher_is_better: bool
    errors: Mapping[str, float] | None
    datasets: tuple[str, ...]


Figures = dict[str, dict[str, Figure]]
"""Dataset or group → metric → figure, the leading metric first."""


def group_rows(rows: Sequence[Row], summarizer: Summarizer) -> list[dict[str, Any]]:
    """Return the rows of all groups: for each model the group's own metric, then the other metrics that all members have.

    The group's own metric is made of each member's first metric, or of the metrics that `subsets` names. A group that lacks a
    member has no value and says what is missing.

    Args:
        rows: the cells' rows (SUMMARY), each cell's first metric first.
        summarizer: its groups may be made of each other, in any order.
    """
    models = dict.fromkeys(row["model"] for row in rows)
    names = {row["dataset"] for row in rows}
    made: dict[str, list[dict[str, Any]]] = {group.name: [] for group in summarizer.summary_groups}
    versions = {row["dataset"]: row["version"] for row in rows}
    for model in models:
        board = _Board(model, [row for row in rows if row["model"] == model], versions)
        for group in summarizer.in_order(names):
            made[group.name].extend(board.add(group))
    return [row for group in summarizer.summary_groups for row in made[group.name]]


class _Board:
    """One model's figures, to which the groups are added one after the other."""

    def __init__(self, model: str, rows: Sequence[Row], versions: Mapping[str, str | None]) -> None:
        self.model = model
        self.first: dict[str, Row] = {}
        self.figures: Figures = {}
        self.versions: dict[str, Any] = dict(versions)
        for row in rows:
            self.first.setdefault(row["dataset"], row)
            self.figures.setdefault(row["dataset"], {})[row["metric"]] = _figure(row)

    def add(self, group: SummaryGroup) -> list[dict[str, Any]]:
        """Return the rows of one group."""
        way = way_of(group)
        combination = Combination.of(group, way)
        own, missing = self._members(group)
        leading = group.metric or way
        found = [(leading, *self._combined(combination, own, missing))]
        for metric in [] if missing else self._shared(group, own, leading):
            members = [(name, metric) for name in group.members()]
            found.append((metric, *self._combined(combination, members, [])))
        if group.name not in self.figures:
            self.figures[group.name] = {metric: figure for metric, figure, _ in found}
        self.versions.setdefault(group.name, self._version(group))
        return [self._row(group, metric, figure, note, bool(missing)) for metric, figure, note in found]

    def _members(self, group: SummaryGroup) -> tuple[list[Member], list[str]]:
        present: dict[Member, None] = {}
        missing: list[str] = []
        for item in group.subsets:
            name, metric = (item, None) if isinstance(item, str) else item
            own = self.figures.get(name) or {}
            metric = metric or next(iter(own), None)
            if metric is None or metric not in own or own[metric].value is None:
                missing.append(item if isinstance(item, str) else f"{name} ({metric})")
            else:
                present[name, metric] = None
        return list(present), missing

    def _shared(self, group: SummaryGroup, own: Sequence[Member], leading: str) -> list[str]:
        """Return the further metrics that all members have; one that all of them lead with is the group's own already."""
        if not all(isinstance(item, str) for item in group.subsets) or not own:
            return []
        sets = [[metric for metric, figure in self.figures[name].items() if figure.value is not None] for name, _ in own]
        led = {metric for _, metric in own}
        return [m for m in sets[0] if all(m in others for others in sets) and {m} != led and m != leading]

    def _combined(self, combination: Combination, members: Sequence[Member], missing: Sequence[str]) -> tuple[Figure, str | None]:
        figures = {member: self.figures[member[0]][member[1]] for member in members}
        datasets = tuple(dict.fromkeys(name for figure in figures.values() for name in figure.datasets))
        none = Figure(None, None, True, None, datasets)
        if missing or not members:
            return none, None
        units = {(figure.scale, figure.higher_is_better) for figure in figures.values()}
        changed = combination.transforms_any(members)
        if len(units) > 1 and not changed:
            return none, f"members have different units: {_units(figures)}; name metrics of one unit, or transform them"
        values = {member: figure.value for member, figure in figures.items() if figure.value is not None}
        try:
            value = combination(values)
        except (ArithmeticError, ValueError) as exc:
            return none, f"{combination.way.replace('_', ' ')} does not exist: {exc}"
        errors = {member: figure.errors for member, figure in figures.items() if figure.errors is not None}
        own = propagated(combination, values, errors) if len(errors) == len(values) else None
        scale, higher = next(iter(units))
        bounded = not changed and combination.way != "sum"
        return Figure(value, scale if bounded else None, higher, own, datasets), None

    def _version(self, group: SummaryGroup) -> str | None:
        """Return what the group is made of and how, as a version: None where a member has none."""
        parts = [self.versions.get(name) for name in group.members()]
        definition = group.model_dump(mode="json", exclude={"expected"})
        return None if None in parts or not parts else sha256_hex(canonical_json([definition, parts]))[:8]

    def _row(self, group: SummaryGroup, metric: str, figure: Figure, note: str | None, lacking: bool) -> dict[str, Any]:
        cells = [self.first[name] for name in figure.datasets]
        modes = {cell["mode"] for cell in cells}
        names = group.members()
        _, missing = self._members(group)
        partial = lacking or figure.value is None or any(cell["partial"] for cell in cells)
        return {
            "model": self.model,
            "dataset": group.name,
            "metric": metric,
            "value": figure.value,
            "scale": figure.scale,
            **_interval(figure),
            "higher_is_better": figure.higher_is_better,
            **{name: sum(cell[name] for cell in cells) for name in COUNTS},
            "version": self.versions[group.name] if group.name not in self.first else self._version(group),
            "mode": (modes.pop() if len(modes) == 1 else "mixed") if modes else None,
            "group": True,
            "partial": partial,
            "note": "; ".join(part for part in (_missing(missing, names, group.expected), note) if part) or None,
        }


def _figure(row: Row) -> Figure:
    errors = None if row["stderr"] is None else {row["dataset"]: row["stderr"]}
    return Figure(row["value"], row["scale"], row["higher_is_better"], errors, (row["dataset"],))


def _interval(figure: Figure) -> dict[str, float | None]:
    """Return stderr and 95 % interval, cut to 0 and the scale where the metric has bounds.

    Members that all show no spread (every answer wrong, say) give an error of 0, but no certainty: then there is no interval.
    """
    if figure.value is None or figure.errors is None:
        return {"stderr": None, "ci_low": None, "ci_high": None}
    stderr = math.sqrt(math.fsum(part * part for part in figure.errors.values()))
    if not stderr:
        return {"stderr": stderr, "ci_low": None, "ci_high": None}
    low, high = figure.value - z_of() * stderr, figure.value + z_of() * stderr
    if figure.scale is not None and 0 <= figure.value <= figure.scale:
        low, high = max(0.0, low), min(figure.scale, high)
    return {"stderr": stderr, "ci_low": low, "ci_high": high}


def _missing(missing: Sequence[str], names: Sequence[str], expected: int | None) -> str | None:
    total = max(expected or 0, len(names))
    present = len(names) - len(missing)
    if present == total:
        return None
    shown = ", ".join(missing[:NAMED_MISSING]) + (f" and {len(missing) - NAMED_MISSING} more" if missing[NAMED_MISSING:] else "")
    return f"{present} of {total} members" + (f", missing: {shown}" if missing else "")


def _units(figures: Mapping[Member, Figure]) -> str:
    texts = dict.fromkeys(
        f"{metric} ({'no bound' if figure.scale is None else f'0 to {figure.scale:g}'}"
        f"{'' if figure.higher_is_better else ', lower is better'})"
        for (_, metric), figure in figures.items()
    )
    return ", ".join(texts)
