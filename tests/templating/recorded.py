"""Runs recorded template cases through the render stage, the recorded examples standing in for the retriever."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import EXAMPLES, samples_of, table_of
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Prompt
from readers.ranges import select
from templating import stage

WIRE = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}


def short(name: str) -> str:
    """Return the short name of a dotted class."""
    return name.rsplit(".", 1)[-1]


class Tokens:
    """The recording's counter: runs of letters and digits, and Chinese characters.

    It counted role/content messages with their keys and roles, and ran the turns of a dialogue together.
    """

    identity = "recorded"

    def __init__(self, with_keys: bool) -> None:
        self.with_keys = with_keys

    def count(self, prompt: Prompt) -> int:
        text = prompt.text or ""
        if prompt.messages is not None:
            text = str(list(prompt.messages)) if self.with_keys else "".join(str(m["content"]) for m in prompt.messages)
        return len(re.findall(r"[A-Za-z0-9]+", text)) + len(re.findall(r"[\u4e00-\u9fff]", text))


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


def split(reader: Json, train: list[Json], test: list[Json]) -> tuple[list[Json], list[Json]]:
    """Return (train, test) as the reader saw them: where both splits are one, the recording laid the train rows there."""
    columns = reader["input_columns"]
    columns = [*(columns.split() if isinstance(columns, str) else columns), reader.get("output_column")]
    if (reader.get("train_split") or "train") == (reader.get("test_split") or "test"):
        test = train
    train, test = _chosen(train, reader.get("train_range")), _chosen(test, reader.get("test_range"))
    return [ordered(row, columns) for row in train], [ordered(row, columns) for row in test]


def _chosen(rows: list[Json], wanted: Json) -> list[Json]:
    positions = select([str(place) for place in range(len(rows))], wanted, compat="opencompass")
    return [rows[place] for place in positions]


def inputs(prompts: pa.Table, count: int) -> list[list[Json]]:
    """Return per sample the messages or texts of its labels."""
    found = [row["text"] if row["messages"] is None else json.loads(row["messages"]) for row in prompts.to_pylist()]
    size = len(found) // count if count else 1
    return [found[i : i + size] for i in range(0, len(found), size)]


def wire(item: Json) -> Json:
    """Return what a recorded item puts on the wire (messages, or a text model's text); None where its client crashed."""
    for name in ("openai_messages", "hf_chat_messages"):
        if isinstance(item.get(name), list):
            return item[name]
    parsed = item["parsed"]
    if "hf_chat_messages" in item and any("prompt" in message for message in parsed):
        return None
    if not isinstance(parsed, list):
        return None if isinstance(parsed, dict) else parsed
    if any(isinstance(message, str) for message in parsed):
        return None
    return [{"role": WIRE.get(m["role"], m["role"]), "content": m["prompt"]} if "prompt" in m else m for m in parsed]


def target(parser: str, meta_template: Json, mode: str, **more: Any) -> stage.Target:
    """Return the target of a recorded model kind."""
    accepts = frozenset({"text"} if parser == "lm" else {"messages"})
    return stage.Target(accepts, mode, meta_template, chat_template=parser == "hf_chat", **more)  # type: ignore[arg-type]
