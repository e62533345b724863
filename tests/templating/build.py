"""Small builders: a dataset spec, tables, and what a model receives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import EXAMPLES, samples_of, table_of
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from templating import stage


def raw(*messages: Json, **more: Json) -> dict[str, Json]:
    return {"type": "RawPromptTemplate", "messages": list(messages), **more}


def legacy(template: Json, **more: Json) -> dict[str, Json]:
    return {"type": "PromptTemplate", "template": template, **more}


def user(content: Json) -> dict[str, Json]:
    return {"role": "user", "content": content}


def system(content: Json) -> dict[str, Json]:
    return {"role": "system", "content": content}


def assistant(content: Json) -> dict[str, Json]:
    return {"role": "assistant", "content": content}


def turn(role: str, prompt: str, **more: Json) -> dict[str, Json]:
    return {"role": role, "prompt": prompt, **more}


def spec(
    prompt: Json, ice: Json = None, *, retriever: Json = None, inputs: str = "question", answer: str | None = "answer", **more: Any
) -> DatasetSpec:
    infer_cfg = {
        "prompt_template": prompt,
        "ice_template": ice,
        "retriever": retriever or ({"type": "FixKRetriever", "fix_id_list": [0]} if ice else {"type": "ZeroRetriever"}),
        "inferencer": {"type": more.pop("inferencer", "GenInferencer")},
    }
    return DatasetSpec(
        type="JsonlDataset",
        abbr="demo",
        reader_cfg={"input_columns": inputs, "output_column": answer},
        infer_cfg=infer_cfg,
        eval_cfg={"evaluator": {"type": "AccEvaluator"}},
        **more,
    )


def target(accepts: str = "messages", mode: str = "gen", meta_template: Json = None, **more: Any) -> stage.Target:
    return stage.Target(frozenset(accepts.split()), mode, meta_template, **more)  # type: ignore[arg-type]


def rendered(
    dataset: DatasetSpec, model: stage.Target, rows: list[Row], pool: Sequence[Row] = (), shots: int | None = None, **more: Any
) -> list[dict[str, Json]]:
    """Render rows, each with the first `shots` rows of the pool (default: all); the rows of PROMPTS, messages parsed."""
    samples = samples_of((f"s{i}", row) for i, row in enumerate(rows))
    ids = [f"t{i}" for i in range(len(pool))]
    chosen = [{"sample_id": f"s{i}", "example_ids": ids[:shots]} for i in range(len(rows))]
    prompts = stage.render(samples, samples_of(zip(ids, pool, strict=True)), table_of(EXAMPLES, chosen), dataset, model, **more)
    return [{**row, "messages": row["messages"] and json.loads(row["messages"])} for row in prompts.to_pylist()]


def sent(dataset: DatasetSpec, model: stage.Target, row: Row, pool: Sequence[Row] = (), **more: Any) -> Json:
    """Return the messages or the text of a single row; a list of them where there are labels."""
    found = [row["text"] if row["messages"] is None else row["messages"] for row in rendered(dataset, model, [row], pool, **more)]
    return found if more.get("labels") else found[0]


def table(rows: list[Row]) -> pa.Table:
    return samples_of((f"s{i}", row) for i, row in enumerate(rows))
