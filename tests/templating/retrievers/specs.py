"""Small datasets and tables for the retrievers' tests."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import samples_of
from leaderflow.core.specs import DatasetSpec


def dataset(retriever: dict[str, Any], *, compat: bool = False, **reader_cfg: Any) -> DatasetSpec:
    """Return a dataset's spec with a retriever; its rows have the columns question and answer unless told otherwise."""
    return DatasetSpec(
        type="JsonlDataset",
        abbr="small",
        reader_cfg={"input_columns": ["question"], "output_column": "answer"} | reader_cfg,
        infer_cfg={
            "prompt_template": {"type": "RawPromptTemplate", "messages": []},
            "retriever": retriever,
            "inferencer": {"type": "GenInferencer"},
        },
        eval_cfg={"evaluator": {"type": "AccEvaluator"}},
        compat="opencompass" if compat else None,
    )


def table(*rows: dict[str, Any], prefix: str = "r") -> pa.Table:
    """Return a read table; the ids are `prefix` and the row's position."""
    return samples_of((f"{prefix}{index}", row) for index, row in enumerate(rows))


def question(text: str, answer: str = "") -> dict[str, Any]:
    """Return a row."""
    return {"question": text, "answer": answer}


def ids(examples: pa.Table) -> list[list[str]]:
    """Return the example ids of every sample."""
    return examples.column("example_ids").to_pylist()
