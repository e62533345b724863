"""The loss on texts longer than the context: window after window, each new piece after as much of the text as fits before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from inference.inferencers.base import Keep, LikelihoodInferencer, Stored, likelihood_request
from inference.inferencers.parts import in_parts
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Answer, Backend, Prompt, Request


class SWCELossInferencer(LikelihoodInferencer):
    """Scores each text in sliding windows; what is extracted is ``{"loss": nats, "characters": n}`` of the whole text.

    Windows are cut by characters and not by tokens, so that every backend sees the same ones: piece i is the continuation of the
    `window` − `stride` characters before it. The first piece has no context, and its first token no likelihood.

    Args:
        window: characters of context and piece together.
        stride: characters of a piece.

    Raises:
        SpecError: a stride below 1 or above the window.
    """

    def __init__(self, window: int = 6000, stride: int = 1500) -> None:
        if not 1 <= stride <= window:
            raise SpecError(f"the stride must be between 1 and the window ({window}), got {stride}", key="inferencer.stride")
        self._context, self._stride = window - stride, stride
        self.kind = f"windows {window} {stride}"

    def prompt(self, row: Mapping[str, Any]) -> Prompt:
        """Return the text of a row; refused where there is none to cut."""
        prompt = super().prompt(row)
        if prompt.text is None or prompt.continuation is not None:
            raise SpecError("sliding windows need plain texts: use a model type that takes text", key="inferencer")
        return prompt

    def ask(self, requests: Sequence[Request], backend: Backend, stored: Stored, keep: Keep) -> Iterator[Answer]:
        """Yield a text's answer when the last of its windows is answered."""
        return in_parts({r.request_key: self._pieces(r, backend.identity) for r in requests}, backend, stored, keep, _sum)

    def measured(self, request: Request, answer: Answer) -> Answer:
        """Return the answer with the loss and the characters as its output."""
        return replace(answer, output=json.dumps({"loss": answer.nll, "characters": len(request.prompt.text or "")}))

    def _pieces(self, request: Request, identity: str) -> list[Request]:
        text = request.prompt.text or ""
        starts = range(0, max(1, len(text)), self._stride)
        return [likelihood_request(self._prompt(text, start), identity) for start in starts]

    def _prompt(self, text: str, start: int) -> Prompt:
        context, piece = text[max(0, start - self._context) : start], text[start : start + self._stride]
        return Prompt(text=context, continuation=piece) if context else Prompt(text=piece)


def _sum(key: str, windows: Sequence[Answer]) -> Answer:
    return Answer(
        key,
        "ok",
        nll=sum(answer.nll or 0.0 for answer in windows),
        scored_tokens=sum(answer.scored_tokens or 0 for answer in windows),
        prompt_tokens=sum(answer.prompt_tokens or 0 for answer in windows),
        latency_s=sum(answer.latency_s or 0.0 for answer in windows),
        attempts=sum(answer.attempts for answer in windows),
    )
