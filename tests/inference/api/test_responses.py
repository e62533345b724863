from __future__ import annotations

import json
from typing import Any

import pytest

from inference.api.errors import Fault
from inference.api.reply import Reply
from inference.api.responses import parse_response

MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Answer: B"}]}
THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Rust is red."}]}
CALL = {"type": "function_call", "name": "web_search", "arguments": "{}"}


def parsed(*items: Any, status: str = "completed", **fields: Any) -> Reply:
    usage = {"input_tokens": 3, "output_tokens": 5}
    return parse_response(json.dumps({"object": "response", "status": status, "output": items, "usage": usage, **fields}).encode())


def test_a_message_with_thinking() -> None:
    assert parsed(THOUGHT, MESSAGE) == Reply("Answer: B", "Rust is red.", "stop", 3, 5)


@pytest.mark.parametrize(("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter")])
def test_an_incomplete_reply(reason: str, finish: str) -> None:
    got = parsed(THOUGHT, status="incomplete", incomplete_details={"reason": reason})
    assert (got.text, got.reasoning, got.finish_reason) == (None, "Rust is red.", finish)


def test_a_refusal_and_a_call_are_what_the_model_said() -> None:
    assert parsed({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}).text == "No."
    assert json.loads(parsed(CALL).text or "")["tool_calls"] == [{"name": "web_search", "arguments": "{}"}]


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b"", b'{"status": "failed", "output": []}', b'{"status": "completed"}', b'{"error": {"message": "boom"}}'],
)
def test_what_is_no_reply(body: bytes) -> None:
    with pytest.raises(Fault) as caught:
        parse_response(body)
    assert caught.value.kind == "retryable"


def test_what_decides_nothing_may_be_anything() -> None:
    assert parsed(MESSAGE, usage=[1], incomplete_details="none") == Reply("Answer: B", None, "stop", None, None)
