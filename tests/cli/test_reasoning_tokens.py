"""Tokens of reasoning are told where tokens are: in the live view, in the run's line, by show and by sql."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.api import evaluate
from flows.artifacts import spent
from flows.progress import Count
from leaderflow.cli.samples import _thought
from leaderflow.cli.table import _effort
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from leaderflow.core.text import reasoning_part
from leaderflow.core.types import Answer
from reports.sql import query
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions


def test_a_thinking_model(fake_openai: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    message = {"role": "assistant", "content": "7", "reasoning_content": "Let me see."}
    usage = {"prompt_tokens": 20, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 40}}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    fake_openai.script(rules=[{"replies": [{"json": body}]}])
    questions = write_questions(tmp_path / "q.jsonl", range(5))
    result = evaluate(spec([model(fake_openai)], [dataset(questions)]), server=False)
    assert result.requests["reasoning_tokens"] == 200
    assert "100 + 250 tokens (200 of them reasoning)" in _effort(json.loads(json.dumps(result.as_json())))[0]
    store = Store(str(tmp_path / "store"))
    manifest = Manifest.load(store, "latest")
    assert "250 output tokens (200 of them reasoning)" in spent(manifest)
    answers = query(store, "SELECT sum(reasoning_tokens) AS n, any_value(reasoning_counted) AS how FROM answers").to_pylist()
    assert answers == [{"n": 200, "how": "reported"}]
    assert query(store, "SELECT reasoning_tokens FROM runs").to_pylist() == [{"reasoning_tokens": 200}]


def test_the_live_view_says_how_much_is_reasoning() -> None:
    count = Count(total=2)
    count.add(Answer("k", "ok", output_tokens=50, reasoning_tokens=40))
    assert ", 80% reasoning)" in count.describe()
    plain = Count(total=2)
    plain.add(Answer("k", "ok", output_tokens=50))
    assert "reasoning" not in plain.describe()


def test_unknown_is_not_told() -> None:
    assert reasoning_part({"output_tokens": 5}) == ""
    answer = {"reasoning_tokens": None, "reasoning_counted": None, "output_tokens": 50}
    assert _thought(answer) == "reasoning"
    assert _thought({**answer, "reasoning_tokens": 40, "reasoning_counted": "reported"}) == "reasoning (40 of 50 tokens)"
    assert _thought({**answer, "reasoning_tokens": 40, "reasoning_counted": "share"}) == "reasoning (about 40 of 50 tokens)"
