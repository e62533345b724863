"""Small specs and files for the readers' tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leaderflow.core.artifacts import rows_of
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Row
from readers.stage import Source, read


def dataset(path: Path | str | None = None, **changes: Any) -> DatasetSpec:
    """Return a spec; keys of `reader_cfg` may be given beside those of the dataset."""
    reader = {"input_columns": ["question"], "output_column": "answer"}
    for name in ("input_columns", "output_column", "id_column", "train_split", "test_split", "train_range", "test_range", "seed"):
        if name in changes:
            reader[name] = changes.pop(name)
    return DatasetSpec(
        type=changes.pop("type", "JsonlDataset"),
        abbr="toy",
        path=None if path is None else str(path),
        reader_cfg=reader,
        infer_cfg={"prompt_template": {"type": "RawPromptTemplate"}, "inferencer": {"type": "GenInferencer"}},
        eval_cfg={"evaluator": {"type": "AccEvaluator"}},
        **changes,
    )


def rows(spec: DatasetSpec, source: Source | None = None) -> list[Row]:
    """Return the rows of the samples."""
    return [row for _, row in samples(spec, source)]


def samples(spec: DatasetSpec, source: Source | None = None) -> list[tuple[str, Row]]:
    """Return the samples as (id, row)."""
    return rows_of(read(spec, source or Source(), pool=False)[0])


def pool(spec: DatasetSpec, source: Source | None = None) -> list[Row]:
    """Return the rows of the pool."""
    return [row for _, row in rows_of(read(spec, source or Source(), pool=True)[1])]


def jsonl(path: Path, items: list[Row]) -> Path:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def questions(count: int, prefix: str = "q") -> list[Row]:
    """Return distinct rows."""
    return [{"question": f"{prefix}{number}", "answer": str(number)} for number in range(count)]
