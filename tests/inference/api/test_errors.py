from __future__ import annotations

import json

import pytest

from inference.api.errors import from_error, from_status, message_of, owner_at_fault
from tests.fake_openai.faults import FAULTS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rate_limit", "retryable"),
        ("overloaded", "retryable"),
        ("server_error", "retryable"),
        ("quota", "run"),
        ("unauthorized", "run"),
        ("forbidden", "run"),
        ("no_model", "run"),
        ("bad_request", "sample"),
        ("context_length", "rejected"),
        ("content_filter", "filtered"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    fault = from_status(FAULTS[name]["status"], json.dumps(FAULTS[name]["json"]).encode())
    assert fault.kind == kind
    assert fault.overloaded == (name in ("rate_limit", "overloaded"))


@pytest.mark.parametrize(
    "message",
    [
        "'max_completion_tokens' is too large: 1000. This model's maximum context length is 1000 tokens and your request has 203",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "the request exceeds the available context size, try increasing it",
        "Input is too long for requested model.",
    ],
)
def test_what_does_not_fit_is_final(message: str) -> None:
    assert from_status(400, json.dumps({"error": {"message": message}}).encode()).kind == "rejected"


def test_too_large_for_the_accounts_minute_is_not_final() -> None:
    said = b'{"error": {"message": "Request too large for model m on tokens per minute (TPM): Limit 6000, Requested 8000"}}'
    assert from_status(413, said).kind == "sample"
    assert from_status(413, b"Payload Too Large").kind == "rejected"


def test_moderation_by_403_is_a_filter() -> None:
    assert from_status(403, b'{"error": {"message": "Your input was flagged"}}').kind == "filtered"


def test_a_filter_named_only_in_the_inner_error() -> None:
    body = {"error": {"message": "bad input", "code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
    assert from_status(400, json.dumps(body).encode()).kind == "filtered"


def test_errors_in_a_good_status() -> None:
    assert from_error("rate limit exceeded").overloaded
    assert from_error({"message": "no", "code": 401}).kind == "run"
    assert from_error({"message": "no", "code": "weird"}).kind == "retryable"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "slow\\n down"}}', "slow down"),
        (b'{"error": "plain"}', "plain"),
        (b'{"message": "top"}', "top"),
        (b'{"detail": [{"msg": "field required"}]}', '[{"msg": "field required"}]'),
        (b"<html><h1>Bad gateway</h1></html>", "Bad gateway"),
        (b"", ""),
        (b"x" * 400, "x" * 299 + "…"),
    ],
)
def test_messages(body: bytes, message: str) -> None:
    assert message_of(body) == message


@pytest.mark.parametrize(
    "message",
    [
        "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "Please reduce the length of the messages or completion.",
        "The prompt is too long: 5000, model maximum context length: 4096",
        "the request exceeds the available context size. try increasing the context size",
        "Input is too long for requested model.",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        "Range of input length should be [1, 30720]",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_servers_say_too_long_in_many_words(message: str, status: int) -> None:
    assert from_status(status, json.dumps({"error": {"message": message}}).encode()).kind == "rejected"


@pytest.mark.parametrize(
    "message",
    [
        "The request was blocked by safety settings.",
        "PROHIBITED_CONTENT",
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "Input data may contain inappropriate content.",
        "Content Exists Risk",
        "系统检测到输入内容可能包含不安全或敏感内容",
    ],
)
def test_providers_say_filtered_in_many_words(message: str) -> None:
    assert from_status(400, json.dumps({"error": {"message": message}}).encode()).kind == "filtered"


@pytest.mark.parametrize("message", ["Unsupported value: 'temperature'", "max_tokens must be at least 1", "unknown field 'top_k'"])
def test_a_wrong_setting_is_neither(message: str) -> None:
    assert from_status(400, json.dumps({"error": {"message": message}}).encode()).kind == "sample"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "API key not valid. Please pass a valid API key."),
        (403, "Your account was flagged for violating our usage policies."),
        (403, "This organization has been disabled."),
        (400, "model 'llama9' not found, try pulling it first"),
    ],
)
def test_a_refused_key_or_owner_is_no_property_of_a_question(status: int, message: str) -> None:
    assert from_status(status, json.dumps({"error": {"message": message}}).encode()).kind == "run"
    assert from_error({"message": message, "code": status}).kind == "run"


@pytest.mark.parametrize(
    ("status", "message", "about"),
    [
        (401, "no", "key"),
        (400, "API key not valid.", "key"),
        (402, "no", "money"),
        (429, "You exceeded your current quota", "money"),
        (404, "no such route", None),
    ],
)
def test_what_ends_a_run_says_what_to_see_to(status: int, message: str, about: str | None) -> None:
    assert owner_at_fault(from_status(status, json.dumps({"error": {"message": message}}).encode())) == about


def test_an_error_that_repeats_the_question_is_not_judged_by_its_words() -> None:
    question = "Which content policy limits the context length of an account?"
    body = {"detail": [{"msg": "field required", "loc": ["body", "model"], "input": {"messages": [{"content": question}]}}]}
    fault = from_status(422, json.dumps(body).encode())
    assert (fault.kind, "content policy" in fault.message) == ("sample", False)


def test_a_good_status_does_not_hide_what_an_error_says() -> None:
    assert from_error("This model's maximum context length is 4096 tokens.").kind == "rejected"
    assert from_error({"message": "content policy violation", "code": "content_filter"}).kind == "filtered"


def test_what_does_not_fit_stays_so_if_the_server_blames_itself() -> None:
    assert from_status(500, b'{"error": "input length exceeds maximum context length"}').kind == "rejected"
    assert from_status(503, b'{"error": "no context window free"}').kind == "retryable"


def test_unavailable_for_legal_reasons_is_a_filter() -> None:
    assert from_status(451, b"").kind == "filtered"
