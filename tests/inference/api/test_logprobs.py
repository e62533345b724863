from __future__ import annotations

import json
from typing import Any

import pytest

from inference.api.errors import Fault
from inference.api.logprobs import likelihood
from leaderflow.core.types import Answer, Prompt, Request, Settings


def echoed(
    tokens: list[str], values: list[float | None], offsets: list[int] | None = None, context: str = "A cat", end: str = " sat"
) -> Answer:
    found = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets or [0] * len(tokens)}
    return score({"logprobs": found}, context, end)


def score(choice: dict[str, Any], context: str, end: str | None, form: Any = "echo") -> Answer:
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 3}}).encode()
    return likelihood(Request("k", Prompt(text=context, continuation=end), Settings()), body, form)


def test_only_the_continuation_counts_and_what_was_generated_never() -> None:
    got = echoed(["A", " cat", " s", "at", "."], [None, -4.0, -0.2, -0.1, -9.0])
    assert (got.nll, got.scored_tokens, got.token_logprobs) == (pytest.approx(0.3), 2, (-0.2, -0.1))
    assert (got.status, got.prompt_tokens) == ("ok", 3)


def test_a_token_across_the_border_counts() -> None:
    assert echoed(["A", " cat s", "at"], [None, -4.0, -0.1]).token_logprobs == (-4.0, -0.1)


def test_a_beginning_of_text_token_shifts_nothing() -> None:
    assert echoed(["<s>", "A", " cat", " sat", "."], [None, -1.0, -4.0, -0.1, -9.0]).token_logprobs == (-0.1,)


def test_the_servers_offsets_where_the_tokens_do_not_spell_the_text() -> None:
    got = echoed(["A", "Ġcat", "Ġs", "at", "."], [None, -4.0, -0.2, -0.1, -9.0], [0, 1, 5, 7, 9])
    assert got.token_logprobs == (-0.2, -0.1)


def test_a_whole_text_counts_from_its_second_token() -> None:
    found = {"tokens": ["A", " cat", "."], "token_logprobs": [None, -4.0, -9.0], "text_offset": [0, 1, 5]}
    assert score({"logprobs": found}, "A cat", None).token_logprobs == (-4.0,)


def entries(*tokens: tuple[str, float] | None) -> dict[str, Any]:
    return {"prompt_logprobs": [t and {"7": {"logprob": t[1], "rank": 1, "decoded_token": t[0]}} for t in tokens]}


def test_prompt_logprobs() -> None:
    got = score(entries(None, (" cat", -4.0), (" s", -0.2), ("at", -0.1)), "A cat", " sat", "prompt_logprobs")
    assert (got.nll, got.scored_tokens) == (pytest.approx(0.3), 2)


def test_pieces_of_characters_in_the_context_shift_nothing() -> None:
    got = score(
        entries(None, ("\ufffd", -1.0), ("\ufffd", -1.0), ("\ufffd", -1.0), (" sat", -0.1)),
        "A \U0001f408",
        " sat",
        "prompt_logprobs",
    )
    assert got.token_logprobs == (-0.1,)


@pytest.mark.parametrize("pieces", [("\ufffd", "\ufffd", "\ufffd"), ("", "", "\U0001f408")])
@pytest.mark.parametrize("form", ["echo", "prompt_logprobs"])
def test_all_pieces_of_a_character_in_the_continuation_count(pieces: tuple[str, ...], form: str) -> None:
    given = [("A", None), (" is", -1.0), (" ", -0.5), *zip(pieces, (-0.25, -0.5, -1.0), strict=True), (".", -2.0)]
    tokens, values = [token for token, _ in given], [value for _, value in given]
    if form == "echo":
        offsets = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
        logprobs = {"tokens": [*tokens, " B"], "token_logprobs": [*values, -9.0], "text_offset": [*offsets, 0]}
        choice: dict[str, Any] = {"text": "A is \U0001f408. B", "logprobs": logprobs}
    else:
        choice = entries(*[None if value is None else (token, value) for token, value in given])
    assert score(choice, "A is ", "\U0001f408.", form).token_logprobs == (-0.25, -0.5, -1.0, -2.0)
    assert score(choice, "A is \U0001f408", ".", form).token_logprobs == (-2.0,)
    assert score(choice, "A is", " \U0001f408.", form).token_logprobs == (-0.5, -0.25, -0.5, -1.0, -2.0)


@pytest.mark.parametrize(
    "choice",
    [
        {"text": "A cat sat"},
        {"logprobs": None},
        {"logprobs": {"tokens": ["x"], "token_logprobs": [], "text_offset": [0]}},
        {"logprobs": {"tokens": [], "token_logprobs": [], "text_offset": []}},
        {"logprobs": {"tokens": ["A", " cat sat"], "token_logprobs": [None, None], "text_offset": [0, 1]}},
    ],
)
def test_replies_without_log_probabilities(choice: dict[str, Any]) -> None:
    with pytest.raises(Fault, match="no log-probabilities"):
        score(choice, "A cat", " sat")


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_log_probability_that_is_no_finite_number_is_malformed(value: float) -> None:
    with pytest.raises(Fault, match="no finite number"):
        echoed(["A", " cat", " sat"], [None, -4.0, value])
