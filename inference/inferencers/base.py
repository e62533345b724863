"""What all likelihood inferencers share: one request for each rendered candidate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from leaderflow.core.identity import input_key, request_key
from leaderflow.core.types import Answer, Backend, Capability, Mode, Prompt, Request, Settings

Stored = Callable[[Sequence[str]], Mapping[str, Answer]]
"""Request keys → the answers that are stored already."""

Keep = Callable[[Answer], None]
"""Stores a part of an answer, such as one turn, under a key of its own."""


class LikelihoodInferencer:
    """Asks for the log-likelihood of every rendered row.

    A likelihood has no settings and no chance in it. So token limits and temperatures are no part of the request, equal inputs
    share one answer, and there is one repeat whatever the dataset's `n`.
    """

    mode: Mode = "ppl"
    needs: Capability = "loglikelihood"
    choice: str | None = None
    repeats: int = 1
    kind: str = "loglikelihood"
    """What is asked, as part of the request key."""

    def requests(self, rendered: pa.Table, identity: str, defaults: Settings) -> list[Request]:
        """Return a request for each model input, in row order, rows with status ``rejected`` left out."""
        rows = [row for row in rendered.to_pylist() if row["status"] == "ok"]
        return [likelihood_request(self.prompt(row), identity, self.kind) for row in rows]

    def prompt(self, row: Mapping[str, Any]) -> Prompt:
        """Return what is scored for a row of the render table."""
        return rendered_prompt(row)

    def ask(self, requests: Sequence[Request], backend: Backend, stored: Stored, keep: Keep) -> Iterator[Answer]:
        """Yield an answer a request, in the order of completion."""
        return backend.loglikelihood(requests)

    def measured(self, request: Request, answer: Answer) -> Answer:
        """Return a good answer as the infer table shows it; the store keeps what the model said."""
        return answer


def likelihood_request(prompt: Prompt, identity: str, kind: str = "loglikelihood") -> Request:
    """Return the request for a likelihood; an API generates one token with it, which counts only for its rate."""
    return Request(request_key(input_key(prompt), identity, {}, kind), prompt, Settings(max_out_len=1))


def rendered_prompt(row: Mapping[str, Any]) -> Prompt:
    """Return the model input of a row of the render table."""
    messages = None if row["messages"] is None else tuple(json.loads(row["messages"]))
    return Prompt(messages=messages, text=row["text"], continuation=row["continuation"])
