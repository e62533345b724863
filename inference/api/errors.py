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
    r"|maximum prompt length|`max_new_tokens` must be <=|prompt 超长|reduce (?:the |your )?(?:length|prompt|input|messages)",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content.?filter|content.?management.?policy|responsible.?ai|content.?policy|safety system|flagged|moderation"
    r"|data_?inspection_?failed|safety (?:settings|filter|reasons)|prohibited.?content|usage polic(?:y|ies)"
    r"|inappropriate content|content exists risk|敏感内容",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient.?(?:quota|balance|credit|funds)|billing|exceeded your current quota|out of credits", re.IGNORECASE
)
_ACCOUNT = re.compile(
    r"(?:invalid|incorrect).?api.?key|api.?key (?:is )?(?:not valid|invalid|expired|revoked)"
    r"|(?:account|organi[sz]ation|api.?key)\b.{0,40}\b(?:flagged|suspended|deactivated|disabled|banned|terminated)",
    re.IGNORECASE,
)
"""Says that the key or its owner is refused, not this one input, whatever the status."""
_NO_MODEL = re.compile(r"model_not_found|\bmodel\b.{0,80}\b(?:not found|does not exist|is not available)", re.IGNORECASE)
_BUSY = re.compile(r"rate.?limit|too many requests|overloaded|slow down|capacity", re.IGNORECASE)

_RATE = re.compile(r"(?:tokens|requests) per (?:minute|day)|rate.?limit|\b[TR]P[MD]\b", re.IGNORECASE)

_RETRYABLE = frozenset({408, 409, 425, 429, 529})
_OVERLOADED = frozenset({429, 529})
_AWAY = frozenset({502, 503, 504})
_ECHOES = frozenset({"input", "messages", "prompt", "body", "request"})
"""Keys under which an error repeats what it was asked; the words of a question say nothing of the error."""


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
    kind = _kind(status, f"{said} {_own_words(body)}")
    message = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    busy = status in _OVERLOADED and kind == "retryable"
    return Fault(kind, message, overloaded=busy, away=status in _AWAY, retry_after=retry_after)


def from_error(error: Json) -> Fault:
    """Return what an error text inside a 200 body means: its own status code decides, where it has one."""
    said = _text_of(error)
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    text = json.dumps(_without_echo(error), ensure_ascii=False)
    status = code if isinstance(code, int) and 400 <= code < 600 else _status_of(text)
    kind = _kind(status, text)
    return Fault(kind, f"an error in place of an answer: {said}", overloaded=status in _OVERLOADED and kind == "retryable")


def owner_at_fault(fault: Fault) -> Literal["key", "money"] | None:
    """Return what of the account a fault of the whole run is about, if of anything."""
    if "HTTP 402" in fault.message or _QUOTA.search(fault.message):
        return "money"
    refused = any(f"HTTP {code}" in fault.message for code in (401, 403)) or _ACCOUNT.search(fault.message)
    return "key" if refused else None


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


def _status_of(text: str) -> int:
    """Return the HTTP status that an error without one would have had."""
    if _BUSY.search(text):
        return 429
    return 400 if any(words.search(text) for words in (_ACCOUNT, _FILTER, _CONTEXT)) else 500


def _kind(status: int, text: str) -> Kind:
    if status in _OVERLOADED:
        return "run" if _QUOTA.search(text) else "retryable"
    if status == 500 and _CONTEXT.search(text):  # some servers count what does not fit among their own faults
        return "rejected"
    if status in _RETRYABLE or status >= 500 or status < 300:  # a 204 is no answer, and no refusal either
        return "retryable"
    if status in (400, 403) and (_ACCOUNT.search(text) or _NO_MODEL.search(text)):
        return "run"
    if status == 451 or (status in (400, 403, 413, 422) and _FILTER.search(text)):
        return "filtered"
    if status == 413 and _RATE.search(text):  # too large for the account's minute today, not for the model
        return "sample"
    if status == 413 or (status in (400, 422) and _CONTEXT.search(text)):
        return "rejected"
    return "run" if status in (401, 402, 403, 404, 405) else "sample"


def _own_words(body: bytes) -> str:
    """Return the part of an error body that the server wrote itself."""
    text = body.decode("utf-8", "replace")
    try:
        return json.dumps(_without_echo(json.loads(text)), ensure_ascii=False)[:4000]
    except ValueError:
        return text[:4000]


def _without_echo(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _without_echo(item) for name, item in value.items() if name not in _ECHOES}
    return [_without_echo(item) for item in value] if isinstance(value, list) else value


def _text_of(error: Json) -> str:
    if isinstance(error, dict):
        error = next((error[name] for name in ("message", "detail", "msg", "error") if error.get(name)), error)
    error = _without_echo(error)
    return _line(error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
