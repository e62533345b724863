"""The answers of other models of the run, for judges that compare with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.judges.base import shown_text
from leaderflow.core.artifacts import EXTRACTED, table_of

if TYPE_CHECKING:
    import pyarrow as pa

EVERY_OTHER = "*"
"""Stands for all other models of the run."""


@dataclass(frozen=True, slots=True)
class RivalAnswer:
    """What a rival answered to one sample × repeat; `text` is None where it gave nothing that can be shown."""

    text: str | None
    pending: bool = False
    """It has no answer yet and will be asked again: the pair cannot be judged."""


Rivals = Mapping[str, Mapping[tuple[str, int], RivalAnswer]]
"""Model → (sample, repeat) → its answer."""


def rivals_of(tables: Mapping[str, pa.Table]) -> dict[str, dict[tuple[str, int], RivalAnswer]]:
    """Return the answers in the EXTRACTED tables of other models' cells."""
    return {model: dict(_answers(table)) for model, table in tables.items()}


def waiting(rivals: Mapping[str, pa.Table]) -> set[tuple[str, int]]:
    """Return the (sample, repeat) that some rival has not answered yet."""
    return {key for answers in rivals_of(rivals).values() for key, answer in answers.items() if answer.pending}


def pretended_rivals(names: Sequence[str], extracted: pa.Table) -> dict[str, pa.Table]:
    """Return as many rivals that all answered what stands in `extracted`."""
    return dict.fromkeys(("another model" if name == EVERY_OTHER else name for name in names), extracted)


def without_answers(extracted: pa.Table, keys: set[tuple[str, int]]) -> pa.Table:
    """Return EXTRACTED with the status ``error`` for some (sample, repeat)."""
    lines = extracted.to_pylist()
    return table_of(EXTRACTED, [{**row, "status": "error"} if (row["sample_id"], row["repeat"]) in keys else row for row in lines])


def _answers(table: pa.Table) -> list[tuple[tuple[str, int], RivalAnswer]]:
    columns = (table.column(name).to_pylist() for name in ("sample_id", "repeat", "status", "extracted"))
    return [((sample, repeat), _answer(status, text)) for sample, repeat, status, text in zip(*columns, strict=True)]


def _answer(status: str, extracted: str | None) -> RivalAnswer:
    if status in ("error", "filtered", "rejected") or extracted is None:
        return RivalAnswer(None, status == "error")
    value = json.loads(extracted)
    return RivalAnswer(None if value is None else shown_text(value) or None)
