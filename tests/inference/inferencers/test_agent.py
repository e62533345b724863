"""The tool loop on the fake server: calls are run, results come back, the last reply is the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inference.answers import AnswerStore
from inference.inferencers.agent import AgentInferencer, run_python
from inference.stage import infer, make_backend
from leaderflow.core import registry, sandbox
from leaderflow.core.errors import SpecError, UsageError
from leaderflow.core.types import Settings
from tests.fake_openai import FakeOpenAI
from tests.fake_openai.faults import choice
from tests.inference.helpers import model, prompts


def call(code: str, name: str = "python") -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps({"code": code})}
    return choice({"content": None, "tool_calls": [{"id": "x", "type": "function", "function": function}]}, "tool_calls")


@pytest.fixture(autouse=True)
def boxed() -> Any:
    with sandbox.unsafe_code(True):
        try:
            sandbox.require(["python"])
        except UsageError as error:
            pytest.skip(str(error))
        yield


def ask(server: FakeOpenAI, store: Path, **arguments: Any) -> dict[str, Any]:
    backend = make_backend(model(server.base_url))
    inferencer = registry.build("inferencer", {"type": "AgentInferencer", **arguments}, repeats=1)
    table = infer(prompts(["What is 6 * 7?"]), inferencer, backend, AnswerStore(store, backend.identity), Settings())
    backend.close()
    row: dict[str, Any] = table.to_pylist()[0]
    return row


def test_calls_are_run_and_the_last_reply_is_the_answer(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(
        rules=[
            {"replies": [call("print(6 * 7)")], "contains": "What is"},
            {"replies": [call("1 / 0")], "contains": "42"},
            {"replies": [choice({"content": "It is 42."})], "contains": "ZeroDivisionError"},
        ]
    )
    row = ask(fake_openai, tmp_path)
    assert (row["status"], row["output"]) == ("ok", "It is 42.")
    transcript = json.loads(row["reasoning"])
    assert [message["role"] for message in transcript] == ["assistant", "tool", "assistant", "tool"]
    assert transcript[1] == {"role": "tool", "tool_call_id": "call_1_0", "content": "42"}
    assert "ZeroDivisionError" in transcript[3]["content"]
    bodies = fake_openai.stats["bodies"]
    assert bodies[0]["tools"][0]["function"]["name"] == "python"
    assert bodies[1]["messages"][1]["tool_calls"][0]["id"] == bodies[1]["messages"][2]["tool_call_id"]
    assert (row["prompt_tokens"], row["output_tokens"], row["attempts"]) == (60, 15, 3)
    assert ask(fake_openai, tmp_path)["output"] == "It is 42."
    assert fake_openai.stats["requests"] == 3


def test_it_goes_on_at_the_turn_where_it_was(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    first = {"replies": [call("print(6 * 7)")], "contains": "What is"}
    fake_openai.script(rules=[first, {"replies": ["bad_request"], "contains": "42"}])
    assert ask(fake_openai, tmp_path)["status"] == "error"
    fake_openai.script(rules=[first])
    assert ask(fake_openai, tmp_path)["status"] == "ok"
    assert fake_openai.stats["attempts"]["What is 6 * 7?"] == 1


def test_the_turn_limit(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.always(call("print(1)"))
    row = ask(fake_openai, tmp_path, max_turns=2)
    assert (row["status"], row["output"]) == ("truncated", "")
    assert "after 2 turns" in row["error"]
    assert fake_openai.stats["requests"] == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (call("", name="browser"), "there is no tool 'browser'"),
        (
            choice({"content": None, "tool_calls": [{"function": {"name": "python", "arguments": "{"}}]}, "tool_calls"),
            "the arguments are no JSON",
        ),
        (
            choice({"content": None, "tool_calls": [{"function": {"name": "python", "arguments": '{"x": 1}'}}]}, "tool_calls"),
            "the arguments must be",
        ),
    ],
)
def test_a_call_that_cannot_be_is_told_to_the_model(reply: Any, said: str, fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(rules=[{"replies": [reply], "contains": "What is"}])
    row = ask(fake_openai, tmp_path)
    assert row["status"] == "ok"
    assert said in json.loads(row["reasoning"])[1]["content"]


def test_wrong_arguments() -> None:
    with pytest.raises(SpecError, match="unknown tool 'pyton'; did you mean 'python'"):
        AgentInferencer(tools=["pyton"])
    with pytest.raises(SpecError, match="max_turns"):
        AgentInferencer(max_turns=0)


def test_what_a_program_prints_is_cut() -> None:
    assert run_python("print('x' * 100_000)") == "x" * 4000
    assert run_python("") == "(nothing was printed)"
