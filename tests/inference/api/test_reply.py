from __future__ import annotations

import json
from typing import Any

import pytest

from inference.api.errors import Fault
from inference.api.reply import Style, answer, parse
from leaderflow.core.types import Answer, Prompt, Request, Settings
from tests.fake_openai.faults import FAULTS, choice


def reply(body: Any, *, stop: tuple[str, ...] = (), style: Style | None = None) -> Answer:
    request = Request("k", Prompt(text="q"), Settings(stop=stop))
    return answer(request, parse(json.dumps(body).encode()), style or Style())


def said(content: Any, finish_reason: str = "stop", **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = choice({"content": content, **fields}, finish_reason)["json"]
    return body


def test_a_plain_reply() -> None:
    got = reply(said("Answer: B"))
    assert (got.status, got.output, got.reasoning, got.finish_reason) == ("ok", "Answer: B", None, "stop")
    assert (got.prompt_tokens, got.output_tokens) == (20, 5)


def test_the_token_limit_truncates() -> None:
    got = reply(said("Answer: ", "length"))
    assert (got.status, got.output) == ("truncated", "Answer: ")


@pytest.mark.parametrize("name", ["null_thinking", "null_reasoning"])
def test_null_content_with_thinking_in_a_field_is_truncated(name: str) -> None:
    got = reply(FAULTS[name]["json"])
    assert (got.status, got.output, got.reasoning) == ("truncated", None, "Mars is red, so")


def test_cut_off_thinking_without_a_tag() -> None:
    body = FAULTS["length"]["json"]
    assert reply(body).status == "truncated"
    got = reply(body, style=Style(thinks=True))
    assert (got.status, got.output, got.reasoning) == ("truncated", None, "Okay, option A says")


def test_an_open_block_states_no_answer() -> None:
    got = reply(said("<think>Option A fits because", "length"))
    assert (got.status, got.output, got.reasoning) == ("truncated", None, "Option A fits because")


def test_content_parts() -> None:
    got = reply(FAULTS["parts"]["json"])
    assert (got.status, got.output, got.reasoning) == ("ok", "Answer: B", "Rust is red.")


def test_an_imaginary_tool_call_is_kept_as_text() -> None:
    got = reply(FAULTS["tool_calls"]["json"])
    assert got.status == "ok"
    assert got.output is not None
    assert json.loads(got.output)["tool_calls"][0]["name"] == "web_search"


def test_empty_content_is_an_answer() -> None:
    assert (reply(said("")).status, reply(said("")).output) == ("ok", "")
    assert (reply(said(None)).status, reply(said(None)).output) == ("ok", "")


def test_a_refusal_is_what_the_model_said() -> None:
    assert reply(said(None, refusal="I cannot help with that.")).output == "I cannot help with that."


def test_the_content_filter_stops_a_reply() -> None:
    assert reply(FAULTS["filtered_reply"]["json"]).status == "filtered"


def test_completions_form() -> None:
    got = reply({"choices": [{"text": " Paris", "finish_reason": "stop"}]})
    assert (got.status, got.output, got.prompt_tokens) == ("ok", " Paris", None)


THOUGHT = "<think>\nQuestion: how many?\n\n24 - 3 = 21.\n</think>\n\nThe answer is 21.\n\nQuestion: another one?"


def test_stops_are_applied_after_the_thinking() -> None:
    got = reply(said(THOUGHT), stop=("\n\n", "Question:"))
    assert (got.status, got.output) == ("ok", "The answer is 21.")
    assert got.reasoning is not None
    assert "24 - 3" in got.reasoning


def test_a_stop_before_the_limit_is_no_truncation() -> None:
    got = reply(said("21\n\nQuestion: anoth", "length"), stop=("\n\n",))
    assert (got.status, got.output) == ("ok", "21")


def test_thinking_cut_by_a_stop_is_flagged() -> None:
    got = reply(said("<think>\n"), stop=("\n\n",))
    assert (got.status, got.output) == ("ok", "")
    assert got.error is not None
    assert "reasoning: true" in got.error


def test_half_a_surrogate_pair_becomes_writable() -> None:
    body = b'{"choices": [{"message": {"content": "a\\ud83d b \\ud83d\\ude00"}}]}'
    assert parse(body).text == "a\ufffd b \U0001f600"


@pytest.mark.parametrize("name", ["short", "not_an_object", "empty_choices", "error_in_200", "error_code_in_200"])
def test_bodies_that_are_no_reply_are_asked_again(name: str) -> None:
    with pytest.raises(Fault) as caught:
        parse(json.dumps(FAULTS[name]["json"]).encode())
    assert caught.value.kind == "retryable"


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"choices": [{"message": {"conte', b'{"choices": [{"message": {"content": 5}}]}', b"\xff\xfe"]
)
def test_malformed_bodies(body: bytes) -> None:
    with pytest.raises(Fault, match="malformed"):
        parse(body)


def test_the_error_text_of_a_200_is_kept() -> None:
    with pytest.raises(Fault, match="rate limit exceeded") as caught:
        parse(b'{"error": "rate limit exceeded"}')
    assert caught.value.overloaded
    with pytest.raises(Fault, match="upstream failed"):
        parse(b'{"choices": [{"error": {"message": "upstream failed", "code": 502}}]}')


@pytest.mark.parametrize(
    ("value", "count"), [(7, 7), (7.0, 7), ("7", None), (-1, None), (1.5, None), (True, None), (float("nan"), None), ([7], None)]
)
def test_a_token_count_that_is_none_costs_no_answer(value: Any, count: int | None) -> None:
    body = said("Answer: B")
    body["usage"] = {"prompt_tokens": value, "completion_tokens": value}
    got = reply(body)
    assert (got.status, got.output) == ("ok", "Answer: B")
    assert (got.prompt_tokens, got.output_tokens) == (count, count)


def test_a_finish_reason_that_is_no_text_counts_as_none() -> None:
    body = said("Answer: B")
    body["choices"][0]["finish_reason"] = 5
    assert reply(body).finish_reason is None


@pytest.mark.parametrize("reason", ["content_filter", "sensitive", "SAFETY", "PROHIBITED_CONTENT", "RECITATION", "refusal"])
def test_a_providers_filter_by_any_name(reason: str) -> None:
    assert reply(said("", reason)).status == "filtered"


def test_a_call_in_the_older_form_is_kept_as_text() -> None:
    got = reply(said(None, "function_call", function_call={"name": "web_search", "arguments": "{}"}))
    assert json.loads(got.output or "") == {"tool_calls": [{"name": "web_search", "arguments": "{}"}]}


@pytest.mark.parametrize("reason", ["max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"])
def test_the_token_limit_by_any_name(reason: str) -> None:
    assert reply(said("Answer: ", reason)).status == "truncated"


@pytest.mark.parametrize("reason", ["abort", "network_error", "insufficient_system_resource", "error"])
def test_a_reply_that_the_server_broke_off_is_asked_again(reason: str) -> None:
    with pytest.raises(Fault, match=reason) as caught:
        reply(said("The answer is B", reason))
    assert caught.value.kind == "retryable"


def test_an_error_beside_half_an_answer_is_an_error() -> None:
    with pytest.raises(Fault, match="upstream failed"):
        reply({**said("The answer is B"), "error": {"message": "upstream failed", "code": 502}})


def test_what_a_message_leaves_out_is_empty() -> None:
    thinking: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "reasoning": "Rust"}, "finish_reason": "length"}]}
    assert (reply(thinking).status, reply(thinking).output, reply(thinking).reasoning) == ("truncated", None, "Rust")
    assert reply({"choices": [{"message": {"role": "assistant"}, "finish_reason": "stop"}]}).output == ""
    assert reply({"choices": [{"index": 0, "finish_reason": "content_filter"}]}).status == "filtered"
    with pytest.raises(Fault, match="malformed"):
        reply({"choices": [{"index": 0, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    "content", [{"type": "text", "text": "Answer: B"}, [{"type": "text", "text": {"value": "Answer: B", "annotations": []}}]]
)
def test_one_part_and_a_text_with_annotations(content: Any) -> None:
    assert reply(said(content)).output == "Answer: B"


def test_thinking_in_parts_in_a_field_of_its_own() -> None:
    assert reply(said("Answer: B", reasoning_content=[{"type": "text", "text": "Rust"}])).reasoning == "Rust"


def test_thinking_given_twice_is_not_in_the_answer() -> None:
    got = reply(said("<think>red</think>Answer: B", reasoning="Rust"))
    assert (got.reasoning, got.output) == ("Rust\nred", "Answer: B")
    mention = reply(said("Write </think> at the end. Answer: B", reasoning="Rust"))
    assert mention.output == "Write </think> at the end. Answer: B"


def test_a_call_beside_an_empty_text_is_shown() -> None:
    calls = [{"type": "function", "function": {"name": "look_up", "arguments": "{}"}}]
    assert "look_up" in (reply(said("", tool_calls=calls)).output or "")


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("</think>\n\nAnswer: B", "Answer: B"),
        ("<think></think>Answer: B", "Answer: B"),
        ("Mars is red.</think>Answer: B", "Answer: B"),
        ("So B it is.\n</think>\nAnswer: B", "Answer: B"),
        ("Answer: B", "Answer: B"),
        ("Write </think> at the end.", "Write </think> at the end."),
    ],
)
def test_a_tag_beside_a_reasoning_field_is_not_in_the_answer(content: str, output: str) -> None:
    got = reply(said(content, reasoning_content="Mars is red. Rust is, too."))
    assert got.output == output
    assert got.reasoning is not None
    assert got.reasoning.startswith("Mars is red. Rust is, too.")
    assert "think>" not in got.reasoning


def test_tokens_of_reasoning() -> None:
    body = said("Answer: B", reasoning="Mars is red.")
    body["usage"] = {"completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 40}}
    got = reply(body)
    assert (got.output_tokens, got.reasoning_tokens, got.reasoning_counted) == (50, 40, "reported")
    body["usage"] = {"completion_tokens": 50, "reasoning_tokens": 0}
    assert (reply(body).reasoning_tokens, reply(body).reasoning_counted) == (0, "reported")
    body["usage"] = {"completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": "many"}}
    got = reply(body)
    assert (got.reasoning_tokens, got.reasoning_counted) == (round(50 * 12 / 21), "share")
    body["usage"] = {}
    assert (reply(body).reasoning_tokens, reply(body).reasoning_counted) == (None, None)
    split = reply(said("<think>abc</think>abc"))
    assert (split.output_tokens, split.reasoning_tokens, split.reasoning_counted) == (5, 2, "share")
    assert reply(said("Answer: B")).reasoning_tokens is None
