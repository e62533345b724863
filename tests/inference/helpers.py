"""What the tests of inference build again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa

from inference.api.backend import OpenAISDK
from inference.stage import open_backend
from leaderflow.core.artifacts import PROMPTS, table_of
from leaderflow.core.identity import canonical_json, input_key
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Message, Prompt, Request, Settings
from tests.fake_openai import FakeOpenAI


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


@contextmanager
def opened(server: FakeOpenAI, **fields: Any) -> Iterator[OpenAISDK]:
    """Open a model behind a server for the block."""
    backend = open_backend(model(server.base_url, **fields))
    assert isinstance(backend, OpenAISDK)
    with closing(backend):
        yield backend


def questions(*texts: str, settings: Settings | None = None) -> list[Request]:
    """Return one request a text, its key made of it."""
    return [Request(f"k-{text}", Prompt(messages=({"role": "user", "content": text},)), settings or Settings()) for text in texts]


def ask(backend: OpenAISDK, *texts: str, settings: Settings | None = None) -> dict[str, Answer]:
    """Return text → answer."""
    return {a.request_key.removeprefix("k-"): a for a in backend.generate(questions(*texts, settings=settings))}
