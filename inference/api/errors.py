"""What a reply that is no answer means: ask again, give this sample up, or stop the run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from leaderflow.core.types import Json

Kind = Literal["retryable", "sample", "run", "filtered", "rejected"]

_CONTEXT = re.compile(
    r"context.?length|maximum context|context window|context size|exceeds? the (?:model's )?(?:maximum )?(?:context|input)"
    r"|(?:prompt|input|request) is too long|too many (?:input )?tokens|maximum model length|max_model_len|prompt too long"
    r"|exceeds? the maximum (?:number of|allowed) (?:input )?tokens|must have less than \d+ tokens|range of input length"
    r"|reduce (?:the |your )?(?:length|prompt|input|messages)",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content.?filter|content.?management.?policy|responsible.?ai|content.?policy|safety system|flagged|moderation"
    r"|data_inspection_failed|safety (?:settings|filter|reasons)|prohibited.?content|usage polic(?:y|ies)",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient.?(?:quota|balance|credit|funds)|billing|exceeded your current quota|out of credits", re.IGNORECASE
)
_BUSY = re.compile(r"rate.?limit|too many requests|overloaded|slow down|capacity", re.IGNORECASE)

_RETRYABLE = frozenset({408, 409, 425, 429, 529})
_OVERLOADED = frozenset({429, 529})
_AWAY = frozenset({502, 503, 504})


@dataclass
class Fault(Exception):
    """A reply that is no answer.

    `overloaded` says that fewer requests should be in flight; `away` that the server is out of service, whatever it is asked;
    `retry_after` is the wait in seconds that the server asked for.
    """

    kind: Kind
    message: str
    overloaded: bool = False
    away: bool = False
    retry_after: float | None = None

    def __str__(self) -> str:
        return self.message


def from_status(status: int, body: bytes, retry_after: float | None = None) -> Fault:
    """Return what an HTTP status other than 2xx means; the provider's own message is kept."""
    said = message_of(body)
    kind = _kind(status, said + " " + body[:4000].decode("utf-8", "replace"))
    message = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    busy = status in _OVERLOADED and kind == "retryable"
    return Fault(kind, message, overloaded=busy, away=status in _AWAY, retry_after=retry_after)


def from_error(error: Json) -> Fault:
    """Return what an error text inside a 200 body means: its own status code decides, where it has one."""
    said = _text_of(error)
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 429 if _BUSY.search(said) else 500
    kind = _kind(status, json.dumps(error))
    return Fault(kind, f"an error in place of an answer: {said}", overloaded=status in _OVERLOADED and kind == "retryable")


def malformed(what: str) -> Fault:
    """Return the fault of a body that is no reply of the documented form: asked again like a server error."""
    return Fault("retryable", f"malformed reply: {what}")


def message_of(body: bytes) -> str:
    """Return the message of an error body, at most 300 characters on one line."""
    text = body.decode("utf-8", "replace")
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        return _line(re.sub(r"<[^>]*>", " ", text))
    return _text_of(parsed.get("error", parsed) if isinstance(parsed, dict) else parsed)


def _kind(status: int, text: str) -> Kind:
    if status in _OVERLOADED:
        return "run" if _QUOTA.search(text) else "retryable"
    if status in _RETRYABLE or status >= 500:
        return "retryable"
    if status in (400, 403, 413, 422) and _FILTER.search(text):
        return "filtered"
    if status == 413 or (status in (400, 422) and _CONTEXT.search(text)):
        return "rejected"
    return "run" if status in (401, 402, 403, 404, 405) else "sample"


def _text_of(error: Json) -> str:
    if isinstance(error, dict):
        error = next((error[name] for name in ("message", "detail", "msg", "error") if error.get(name)), error)
    return _line(error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
