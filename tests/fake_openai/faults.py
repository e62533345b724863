"""Replies that go wrong, by name. A reply is a mapping:

status (200), headers, json or raw (the body, in `charset`) or content (the text of a good reply), delay (seconds), and
`break`: ``reset`` (connection reset), ``hang`` (no reply), ``cut`` (the body ends early), ``chunk`` (so does a chunked one),
``drip`` (a byte every 0.1 s, without end).
An empty mapping is a good reply. In a header, ``{date+3}`` stands for the HTTP date in three seconds.
"""

from __future__ import annotations

from typing import Any

Reply = dict[str, Any]


def error(status: int, message: str, headers: dict[str, str] | None = None, **fields: Any) -> Reply:
    return {"status": status, "headers": headers or {}, "json": {"error": {"message": message, **fields}}}


def choice(message: dict[str, Any], finish_reason: str = "stop", **usage: int) -> Reply:
    tokens = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25, **usage}
    body = {"role": "assistant", **message}
    return {
        "json": {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": body, "finish_reason": finish_reason}],
            "usage": tokens,
        }
    }


_SAID = {"role": "assistant", "content": "The answer is 2"}
_OTHER = {"role": "assistant", "content": "The answer is 3"}
_USED = {"prompt_tokens": 20, "completion_tokens": 4}

_TOOL = {"id": "c1", "type": "function", "function": {"name": "web_search", "arguments": '{"q": "x"}'}}

FAULTS: dict[str, Reply] = {
    "ok": {},
    "rate_limit": error(429, "slow down", type="rate_limit_error"),
    "rate_limit_seconds": error(429, "slow down", {"Retry-After": "1"}),
    "rate_limit_date": error(429, "slow down", {"Retry-After": "{date+2}"}),
    "rate_limit_ms": error(429, "slow down", {"retry-after-ms": "700"}),
    "rate_limit_hours": error(429, "slow down", {"Retry-After": "10800"}),
    "quota": error(429, "You exceeded your current quota, please check your plan and billing details.", code="insufficient_quota"),
    "overloaded": error(529, "Overloaded", type="overloaded_error"),
    "server_error": error(500, "boom", type="server_error"),
    "gateway_page": {"status": 502, "headers": {"Content-Type": "text/html"}, "raw": "<html><h1>Bad gateway</h1></html>"},
    "reset": {"break": "reset"},
    "hang": {"break": "hang"},
    "cut": {"break": "cut"},
    "malformed": {"raw": '{"choices": [{"message": {"role": "assis'},
    "short": {"json": {"choices": [{"index": 0}]}},
    "not_an_object": {"json": []},
    "empty_choices": {"json": {"choices": []}},
    "html": {"headers": {"Content-Type": "text/html"}, "raw": "<html>please log in</html>"},
    "nothing": {"raw": ""},
    "no_content": {"status": 204, "raw": ""},
    "gzip": {"headers": {"Content-Encoding": "gzip"}, "raw": "this was never compressed"},
    "latin": {"charset": "latin-1", "raw": '{"choices": [{"message": {"content": "r\u00e9ponse 3"}}]}'},
    "stream": {"headers": {"Content-Type": "text/event-stream"}, "raw": 'data: {"choices": [{"delta": {"content": "3"}}]}\n\n'},
    "number": {"json": {"choices": [{"index": 0, "message": {"role": "assistant", "content": 3}}]}},
    "chunk": {"break": "chunk"},
    "drip": {"break": "drip"},
    "two_choices": {"json": {"choices": [{"index": 0, "message": _SAID}, {"index": 1, "message": _OTHER}], "usage": _USED}},
    "odd_reason": {"json": {"choices": [{"index": 0, "message": _SAID, "finish_reason": "eos_reached"}], "usage": _USED}},
    "no_usage": {"json": {"choices": [{"index": 0, "message": _SAID, "finish_reason": "stop"}]}},
    "moved": {"status": 307, "headers": {"Location": "https://elsewhere.invalid/v1"}, "raw": ""},
    "error_in_200": {"json": {"error": "rate limit exceeded"}},
    "error_code_in_200": {"json": {"error": {"message": "upstream failed", "code": 502}}},
    "bad_request": error(400, "Unsupported value: 'temperature'", type="invalid_request_error"),
    "context_length": {
        "status": 400,
        "json": {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. You requested 5103.",
            "code": 400,
        },
    },
    "content_filter": error(400, "The response was filtered by the content management policy.", code="content_filter"),
    "filtered_reply": choice({"content": ""}, "content_filter"),
    "unauthorized": error(401, "Incorrect API key provided.", code="invalid_api_key"),
    "forbidden": error(403, "You have no access to this model."),
    "no_model": error(404, "The model `x` does not exist.", code="model_not_found"),
    "empty": choice({"content": ""}),
    "null_thinking": choice({"content": None, "reasoning_content": "Mars is red, so"}, "length", completion_tokens=64),
    "null_reasoning": choice({"content": None, "reasoning": "Mars is red, so"}, "length", completion_tokens=64),
    "parts": choice(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Rust is red."}], "closed": True},
                {"type": "x_citation", "ref": 3},
                {"type": "text", "text": "Answer: B"},
            ]
        }
    ),
    "tool_calls": choice({"content": None, "tool_calls": [_TOOL]}, "tool_calls"),
    "length": choice({"content": "Okay, option A says"}, "length"),
}
