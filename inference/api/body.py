"""The body of a request to an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
from typing import Literal

from leaderflow.core.errors import BackendError
from leaderflow.core.types import Json, Message, Prompt, Settings

Route = Literal["chat", "completions", "responses"]

PATHS = {"chat": "chat/completions", "completions": "completions", "responses": "responses"}

MOST_STOPS = 4
"""More stop strings than this are refused by OpenAI; the others are cut off by us alone."""


def generate_body(model: str, route: Route, prompt: Prompt, settings: Settings, limit_field: str, extra: dict[str, Json]) -> bytes:
    """Return the JSON body that asks for one generation."""
    values: dict[str, Json] = {
        "max_output_tokens" if route == "responses" else limit_field: settings.max_out_len,
        "min_tokens": settings.min_out_len,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "top_k": settings.top_k,
        "seed": settings.seed,
        "stop": list(settings.stop[:MOST_STOPS]) or None,
    }
    if route == "responses":  # it knows neither; stop strings are cut off by us
        del values["stop"], values["seed"]
    given = {name: value for name, value in values.items() if value is not None}
    return json.dumps({"model": model, **_input(route, prompt), **given, **extra, **settings.extra}).encode()


def _input(route: Route, prompt: Prompt) -> dict[str, Json]:
    if route == "completions":
        return {"prompt": text_of(prompt)}
    return {"messages": messages_of(prompt)} if route == "chat" else {"input": messages_of(prompt), "store": False}


def score_body(model: str, prompt: Prompt, form: str, extra: dict[str, Json]) -> bytes:
    """Return the JSON body that asks for the log-probabilities of a text's tokens.

    One token is generated as well, because not every server lets it be none; it is never counted.
    """
    text = text_of(prompt) + (prompt.continuation or "")
    asked: dict[str, Json] = {"echo": True, "logprobs": 1} if form == "echo" else {"prompt_logprobs": 0}
    return json.dumps({"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, **asked, **extra}).encode()


def messages_of(prompt: Prompt) -> list[Message]:
    """Return a prompt as chat messages; plain text is one user turn, an empty last assistant turn is what the model fills in."""
    if prompt.messages is None:
        return [{"role": "user", "content": prompt.text or ""}]
    messages = list(prompt.messages)
    if messages and messages[-1]["role"] == "assistant" and not messages[-1]["content"]:
        messages.pop()
    return messages


def text_of(prompt: Prompt) -> str:
    """Return the text of a prompt for the completions route.

    Raises:
        BackendError: the prompt consists of messages.
    """
    if prompt.text is None:
        raise BackendError("the completions route takes plain text, but this prompt consists of chat messages; use `route: chat`")
    return prompt.text
