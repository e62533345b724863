"""OpenAI's Responses API: the reply is a list of items (reasoning, message, …) and a status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inference.api.errors import from_error, malformed
from inference.api.reply import Reply, clean, content_of, count_of, load, mapping_of, thinking_of

_LIMITS = {"max_output_tokens": "length", "content_filter": "content_filter"}


def parse_response(body: bytes) -> Reply:
    """Return the message of a Responses reply, its reasoning summary apart; tool calls are kept as JSON text.

    Raises:
        Fault: the body is malformed, or holds an error in place of an answer.
    """
    data = load(body)
    if error := data.get("error"):
        raise from_error(error)
    items = data.get("output")
    if not isinstance(items, list) or data.get("status") not in ("completed", "incomplete"):
        raise malformed(f"no output (status {data.get('status')!r})")
    reason = mapping_of(data.get("incomplete_details")).get("reason")
    usage = mapping_of(data.get("usage"))
    said = _of_type(items, "message")
    calls = [{"name": item.get("name"), "arguments": item.get("arguments")} for item in _of_type(items, "function_call")]
    text = (
        "".join(content_of(item.get("content"))[0] or "" for item in said)
        if said
        else json.dumps({"tool_calls": calls})
        if calls
        else None
    )
    return Reply(
        clean(text),
        clean(_thinking(items)),
        _LIMITS.get(str(reason), "stop"),
        count_of(usage.get("input_tokens")),
        count_of(usage.get("output_tokens")),
        thinking_of(usage, "output_tokens_details"),
    )


def _of_type(items: Sequence[Any], kind: str) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict) and item.get("type") == kind]


def _thinking(items: Sequence[Any]) -> str | None:
    parts = [part for item in _of_type(items, "reasoning") for part in item.get("content") or item.get("summary") or []]
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None
