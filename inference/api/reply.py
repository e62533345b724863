"""From the body of a reply to an answer: the many forms in which servers say one thing."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from inference.api.errors import from_error, malformed, message_of
from leaderflow.core.reasoning import TAGS, holds_reasoning, split_reasoning
from leaderflow.core.types import Answer, Json, Request, Status

log = logging.getLogger("leaderflow.api")

_THOUGHT = frozenset({"thinking", "reasoning", "reasoning_content", "thought", "summary_text"})
_TEXT = frozenset({"text", "output_text", "refusal"})
_HOLDERS = ("text", "thinking", "reasoning", "refusal", "content", "value")
"""Where a content part keeps its text."""
_FILTERED = frozenset(
    {
        "content_filter",
        "content_filtered",
        "sensitive",
        "safety",
        "refusal",
        "recitation",
        "prohibited_content",
        "blocklist",
        "spii",
    }
)
"""Finish reasons of a provider's filter, in small letters."""
_LIMITED = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
"""Finish reasons of a token limit, in small letters."""
_BROKEN = frozenset({"error", "abort", "aborted", "cancelled", "canceled", "network_error", "insufficient_system_resource"})
"""Finish reasons of a server that gave up in the middle, in small letters."""
_SAID = frozenset({"content", "text", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content"})
"""What a message may consist of; without any of it, it is one only if the choice says why it ended."""


_ENDED_THINKING = "the reply ended inside the thinking"
_CUT_BY_STOP = "; set `reasoning: true` for this model so that stop strings cannot cut it there"


Counted = Literal["reported", "share"] | None


@dataclass(frozen=True, slots=True)
class Style:
    """How a model writes: `thinks` says that it is a reasoning model, `tags` name the tags around its thinking."""

    thinks: bool = False
    tags: Sequence[str] = TAGS


@dataclass(frozen=True, slots=True)
class Reply:
    """The parts of a reply that matter, as the server gave them. `reasoning` comes from a field of its own."""

    text: str | None
    reasoning: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None = None


def parse(body: bytes) -> Reply:
    """Return the first choice of a chat or completions reply.

    Raises:
        Fault: the body is malformed, holds no choice, or an error in place of an answer.
    """
    choice, usage = first_choice(body)
    reason = reason_of(choice.get("finish_reason"))
    message = _message(choice, reason)
    text, thought = content_of(message.get("content", message.get("text")))
    if not text:
        text = message.get("refusal") or _calls(message) or text
    field = message.get("reasoning_content") or message.get("reasoning")
    reasoning = (_inner(field) if isinstance(field, str | list) else None) or thought
    tokens = (count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens")))
    return Reply(clean(text), clean(reasoning), reason, *tokens, thinking_of(usage, "completion_tokens_details"))


def _message(choice: Mapping[str, Any], reason: str | None) -> Mapping[str, Any]:
    """Return a choice's message: servers leave out what is empty, a filter leaves out the message itself."""
    message = choice.get("message") if "message" in choice else choice
    empty = reason is not None and ("message" in choice or reason.lower() in _FILTERED)
    if not isinstance(message, dict) or not (_SAID & set(message) or empty):
        raise malformed("the choice has no message")
    return message


def load(body: bytes) -> dict[str, Any]:
    """Return a body's JSON object.

    Raises:
        Fault: it is none.
    """
    try:
        data = json.loads(body)
    except ValueError as exc:
        page = body.lstrip()[:1] == b"<"
        raise malformed(f"a web page, not JSON: {message_of(body)}" if page else f"no JSON ({exc})") from None
    if not isinstance(data, dict):
        raise malformed(f"a JSON {type(data).__name__}, not an object")
    return data


def first_choice(body: bytes) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the first choice and the usage of a reply's body; raises as `parse` does."""
    data = load(body)
    if error := data.get("error") or (data if data.get("object") == "error" else None):
        raise from_error(error)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise malformed(f"no choices ({message_of(body)})")
    reason = str(choices[0].get("finish_reason")).lower()
    if error := choices[0].get("error") or (reason in _BROKEN and f"the server stopped with {reason!r}"):
        raise from_error(error)
    return choices[0], mapping_of(data.get("usage"))


def mapping_of(value: Json) -> Mapping[str, Any]:
    """Return a mapping that decides nothing, such as the usage; whatever else stands there counts as none."""
    return value if isinstance(value, dict) else {}


def count_of(value: Json) -> int | None:
    """Return a number of tokens; None for what is none, because a wrong count must not cost an answer."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 and value == int(value)
    return int(value) if whole else None


def thinking_of(usage: Mapping[str, Any], details: str) -> int | None:
    """Return the tokens of thinking that a usage tells of: in its details, or beside them as some servers do."""
    found = count_of(mapping_of(usage.get(details)).get("reasoning_tokens"))
    return count_of(usage.get("reasoning_tokens")) if found is None else found


def reason_of(value: Json) -> str | None:
    """Return a finish reason; None for what is no text."""
    return clean(value) if isinstance(value, str) else None


def answer(request: Request, reply: Reply, style: Style) -> Answer:
    """Return the answer: thinking split off, stop strings cut off, and the status.

    A reply that hit the token limit is ``truncated`` and states no answer if it ended inside the thinking. A stop string that the
    server honoured inside the thinking leaves an empty output, with the remedy in `error`.
    """
    limited, error = (reply.finish_reason or "").lower() in _LIMITED, None
    reasoning, output = reply.reasoning, reply.text
    if output is not None and (reasoning is None or holds_reasoning(output, reasoning, style.tags)):
        thought, output = split_reasoning(output, style.tags)
        reasoning = "\n".join(dict.fromkeys([reasoning, thought])) if reasoning and thought else reasoning or thought
        if style.thinks and limited and reasoning is None:
            reasoning, output = output, None
    if output is None and not limited and reasoning is not None:
        error = _ENDED_THINKING + (_CUT_BY_STOP if request.settings.stop else "")
    if output is None and not limited:
        output = ""
    thinking, counted = _thinking_tokens(reply, reasoning, output)
    stopped = output is not None and (at := _first_stop(output, request.settings.stop)) is not None
    if stopped and output is not None:
        output = output[:at]
    return Answer(
        request.request_key,
        _status(reply.finish_reason, limited and not stopped),
        output=output,
        reasoning=reasoning,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.prompt_tokens,
        output_tokens=reply.output_tokens,
        reasoning_tokens=thinking,
        reasoning_counted=counted,
        error=error,
    )


def _thinking_tokens(reply: Reply, reasoning: str | None, output: str | None) -> tuple[int | None, Counted]:
    """Return the tokens of thinking and how they were counted, while the output is whole."""
    if reply.reasoning_tokens is not None:
        return reply.reasoning_tokens, "reported"
    if reply.output_tokens is None or not reasoning:
        return None, None
    return round(reply.output_tokens * len(reasoning) / (len(reasoning) + len(output or ""))), "share"


def _status(finish_reason: str | None, truncated: bool) -> Status:
    if finish_reason and finish_reason.lower() in _FILTERED:
        return "filtered"
    return "truncated" if truncated else "ok"


def _first_stop(text: str, stop: Sequence[str]) -> int | None:
    return min((at for s in stop if (at := text.find(s)) >= 0), default=None)


def content_of(content: Json) -> tuple[str | None, str | None]:
    """Return (text, thinking) of a message's content: a string, null, a part or a list of parts."""
    if content is None or isinstance(content, str):
        return content, None
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise malformed(f"the content is a JSON {type(content).__name__}")
    text: list[str] = []
    thought: list[str] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str) or kind in _TEXT:
            text.append(_inner(part))
        elif kind in _THOUGHT:
            thought.append(_inner(part))
        else:
            _note_ignored(str(kind)[:60])
    return "".join(text), "".join(thought) if thought else None


@lru_cache(maxsize=64)  # said once for each kind, not once for each answer
def _note_ignored(kind: str) -> None:
    log.warning("answers hold content parts of type %r, which are ignored", kind)


def _inner(part: Json) -> str:
    """Return the text of a content part, which may hold parts itself."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "".join(_inner(p) for p in part)
    return next((_inner(part[name]) for name in _HOLDERS if part.get(name)), "") if isinstance(part, dict) else ""


def _calls(message: Mapping[str, Any]) -> str | None:
    """Return tool calls as JSON text: no tool was offered, so a call is what the model said, and no answer."""
    calls = message.get("tool_calls") or [message.get("function_call")]
    if not isinstance(calls, list) or not any(calls):
        return None
    return json.dumps({"tool_calls": [call.get("function", call) for call in calls if isinstance(call, dict)]}, ensure_ascii=False)


def clean(text: Json) -> str | None:
    """Return a text that can be written as UTF-8: halves of surrogate pairs become U+FFFD."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise malformed(f"the text is a JSON {type(text).__name__}")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
