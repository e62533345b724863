"""Summary groups: rows of the leaderboard that are made of others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from leaderflow.core.artifacts import COUNTS
from leaderflow.core.specs import SummaryGroup

Row = Mapping[str, Any]


def group_rows(rows: Sequence[Row], groups: Sequence[SummaryGroup]) -> list[dict[str, Any]]:
    """Return a row for every model × group: the plain mean of the members' first metrics, with what is missing said."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        first.setdefault((row["model"], row["dataset"]), row)
    return [_row(model, group, first) for group in groups for model in models]


def _row(model: str, group: SummaryGroup, first: Mapping[tuple[str, str], Row]) -> dict[str, Any]:
    names = [str(name) for name in group.subsets]
    members = [first[model, name] for name in names if (model, name) in first]
    values = [m["value"] for m in members if m["value"] is not None]
    total = group.expected or len(names)
    complete = len(values) == len(names)
    errors = [m["stderr"] for m in members]
    stderr = math.sqrt(sum(e * e for e in errors)) / len(errors) if complete and errors and None not in errors else None
    value = sum(values) / len(values) if complete and values else None
    scale = members[0]["scale"] if members else None
    counts = {name: sum(m[name] for m in members) for name in COUNTS}
    note = f"{len(values)} of {total}" if len(values) < total else None
    interval = (value - 1.96 * stderr, value + 1.96 * stderr) if value is not None and stderr is not None else (None, None)
    return {
        "model": model,
        "dataset": group.name,
        "metric": "naive_average",
        "value": value,
        "scale": scale,
        "stderr": stderr,
        "ci_low": interval[0],
        "ci_high": interval[1],
        "higher_is_better": members[0]["higher_is_better"] if members else True,
        **counts,
        "version": None,
        "mode": members[0]["mode"] if members else None,
        "group": True,
        "partial": any(m["partial"] for m in members) or not complete,
        "note": note,
    }
