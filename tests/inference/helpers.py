"""What the tests of inference build again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import PROMPTS, table_of
from leaderflow.core.identity import canonical_json, input_key
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt


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


def prompts(questions: Sequence[str], **fields: Any) -> pa.Table:
    """Return a rendered table, one user turn a question."""
    rows, seen = [], {}
    for number, question in enumerate(questions):
        prompt = Prompt(messages=({"role": "user", "content": question},))
        key = input_key(prompt)
        seen[key] = seen.get(key, -1) + 1
        row = {
            "sample_id": f"s{number}",
            "part": 0,
            "occurrence": seen[key],
            "input_key": key,
            "dropped_examples": 0,
            "status": "ok",
        }
        rows.append({**row, "messages": canonical_json(list(prompt.messages or ())), **fields})
    return table_of(PROMPTS, rows)
