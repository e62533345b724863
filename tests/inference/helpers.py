"""What the tests of inference build again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import PROMPTS, table_of
from leaderflow.core.identity import canonical_json, input_key
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Message, Prompt


def model(base_url: str = "http://127.0.0.1:9/v1", **fields: Any) -> ModelSpec:
    values = {
        "type": "OpenAISDK",
        "abbr": "m",
        "path": "fake",
        "openai_api_base": base_url,
        "timeout": 10.0,
        "retries": 3,
        **fields,
    }
    return ModelSpec(**values)


def talk(*contents: str, system: str | None = None) -> tuple[Message, ...]:
    """Return user and assistant turns in alternation."""
    turns: list[Message] = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(contents)]
    return ({"role": "system", "content": system}, *turns) if system else tuple(turns)


def conversations(*talks: tuple[Message, ...], **fields: Any) -> pa.Table:
    """Return a rendered table, one row a conversation."""
    seen: Counter[str] = Counter()
    rows = []
    for number, messages in enumerate(talks):
        key = input_key(Prompt(messages=messages))
        place = {"sample_id": f"s{number}", "part": 0, "occurrence": seen[key], "input_key": key}
        seen[key] += 1
        rows.append({**place, "messages": canonical_json(list(messages)), "dropped_examples": 0, "status": "ok", **fields})
    return table_of(PROMPTS, rows)


def prompts(questions: Sequence[str], **fields: Any) -> pa.Table:
    """Return a rendered table, one user turn a question."""
    return conversations(*map(talk, questions), **fields)
