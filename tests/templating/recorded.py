"""Runs recorded template cases through the render stage, the recorded examples standing in for the retriever."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import EXAMPLES, samples_of, table_of
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Prompt
from templating import stage

WIRE = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}


def short(name: str) -> str:
    """Return the short name of a dotted class."""
    return name.rsplit(".", 1)[-1]


class Tokens:
    """The recording's counter: runs of letters and digits, and Chinese characters."""

    identity = "recorded"

    def count(self, prompt: Prompt) -> int:
        import re

        text = prompt.text if prompt.messages is None else "\n".join(str(m["content"]) for m in prompt.messages)
        return len(re.findall(r"[A-Za-z0-9]+", text or "")) + len(re.findall(r"[\u4e00-\u9fff]", text or ""))


def dataset(infer_cfg: dict[str, Json], reader_cfg: dict[str, Json]) -> DatasetSpec:
    """Return the spec of a recorded case."""
    cfg = {name: dict(value) for name, value in infer_cfg.items() if isinstance(value, dict)}
    for value in cfg.values():
        value["type"] = short(value["type"])
    reader = {name: reader_cfg.get(name) for name in ("input_columns", "output_column")}
    evaluator = {"evaluator": {"type": "AccEvaluator"}}
    return DatasetSpec(type="JsonlDataset", abbr="case", reader_cfg=reader, infer_cfg=cfg, eval_cfg=evaluator, compat="opencompass")


def tables(train: list[Json], test: list[Json], retrieved: list[list[int]]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return samples, pool and examples."""
    samples = samples_of((f"s{i}", row) for i, row in enumerate(test))
    pool = samples_of((f"t{i}", row) for i, row in enumerate(train))
    chosen = [{"sample_id": f"s{i}", "example_ids": [f"t{j % len(train)}" for j in ids]} for i, ids in enumerate(retrieved)]
    return samples, pool, table_of(EXAMPLES, chosen)


def ordered(row: dict[str, Json], columns: list[str]) -> dict[str, Json]:
    """Return the row with the reader's columns first: the recording wrote its rows with sorted keys, the source did not."""
    return {name: row[name] for name in dict.fromkeys([*(c for c in columns if c in row), *row])}


def inputs(prompts: pa.Table, count: int) -> list[list[Json]]:
    """Return per sample the messages or texts of its labels."""
    found = [row["text"] if row["messages"] is None else json.loads(row["messages"]) for row in prompts.to_pylist()]
    size = len(found) // count if count else 1
    return [found[i : i + size] for i in range(0, len(found), size)]


def wired(parsed: Json) -> Json:
    """Return a recorded parser's result in the form of messages on the wire."""
    if isinstance(parsed, str):
        return parsed
    return [{"role": WIRE.get(m["role"], m["role"]), "content": m["prompt"]} if "prompt" in m else m for m in parsed]


def target(parser: str, meta_template: Json, mode: str, **more: Any) -> stage.Target:
    """Return the target of a recorded model kind."""
    accepts = frozenset({"text"} if parser == "lm" else {"messages"})
    return stage.Target(accepts, mode, meta_template, chat_template=parser == "hf_chat", **more)  # type: ignore[arg-type]
