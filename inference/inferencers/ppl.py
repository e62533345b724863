"""Perplexity: the candidate whose whole text the model finds most likely, token for token, is the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from inference.inferencers.base import Keep, LikelihoodInferencer, Stored, likelihood_request
from inference.inferencers.parts import in_parts
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.types import Answer, Backend, Prompt, Request

Choice = Literal["token_mean", "sum", "char_mean", "byte_mean", "unconditional"]

NEUTRAL = "Answer:"
"""The context of unconditional likelihoods (Brown et al. 2020, section 2.4)."""


class PPLInferencer(LikelihoodInferencer):
    """Scores every candidate's text; the least mean loss wins, ties go to the first label.

    Args:
        labels: the candidates, where they are not the keys of the template's mapping.
        choice: what is compared: ``token_mean`` (as documented: perplexity, the loss per token), ``sum`` (the likelihood itself),
            ``char_mean`` or ``byte_mean`` (loss a character or UTF-8 byte of what is scored), or ``unconditional`` (how much
            likelier the context makes the continuation: the row's `nll` is its loss less that after the `neutral` context).
        neutral: the context that says nothing.

    Raises:
        SpecError: no labels in `labels`, one of them twice, or an unknown choice.
    """

    def __init__(self, labels: Sequence[str] | None = None, choice: Choice = "token_mean", neutral: str = NEUTRAL) -> None:
        if choice not in get_args(Choice):
            raise SpecError(f"unknown choice {choice!r}{did_you_mean(choice, get_args(Choice))}", key="inferencer.choice")
        self.labels = None if labels is None else checked_labels(labels, "labels")
        self.choice = {"char_mean": "measured", "byte_mean": "measured", "unconditional": "sum"}.get(choice, choice)
        self._wanted, self._neutral = choice, neutral
        if choice == "unconditional":
            self.kind = f"loglikelihood over {neutral}"

    def ask(self, requests: Sequence[Request], backend: Backend, stored: Stored, keep: Keep) -> Iterator[Answer]:
        """Yield an answer a request; for ``unconditional`` two likelihoods are asked for each."""
        if self._wanted != "unconditional":
            return backend.loglikelihood(requests)
        pairs = {request.request_key: self._pair(request.prompt, backend.identity) for request in requests}
        return in_parts(pairs, backend, stored, keep, _difference)

    def prompt(self, row: Mapping[str, Any]) -> Prompt:
        """Return what is scored for a row; refused where its characters could not be counted."""
        prompt = super().prompt(row)
        if self.choice == "measured":
            scored_text(prompt)
        return prompt

    def measured(self, request: Request, answer: Answer) -> Answer:
        """Return the answer, for ``char_mean`` and ``byte_mean`` with the loss a unit as its output."""
        if self.choice != "measured" or answer.nll is None:
            return answer
        text = scored_text(request.prompt)
        size = len(text) if self._wanted == "char_mean" else len(text.encode("utf-8", "surrogatepass"))
        return replace(answer, output=json.dumps(answer.nll / max(1, size)))

    def _pair(self, prompt: Prompt, identity: str) -> list[Request]:
        if prompt.continuation is None:
            raise SpecError(
                "the unconditional choice needs a context and a continuation: use LLInferencer", key="inferencer.choice"
            )
        neutral = Prompt(text=self._neutral, continuation=prompt.continuation)
        return [likelihood_request(asked, identity) for asked in (prompt, neutral)]


def scored_text(prompt: Prompt) -> str:
    """Return the text whose likelihood counts.

    Raises:
        SpecError: the prompt is a dialogue without a continuation, of which only the model knows the text.
    """
    if prompt.continuation is None and prompt.text is None:
        raise SpecError("characters can be counted in texts only: use a model type that takes text", key="inferencer.choice")
    return (prompt.text or "") if prompt.continuation is None else prompt.continuation


def _difference(key: str, pair: Sequence[Answer]) -> Answer:
    inside, alone = pair
    return replace(inside, request_key=key, nll=(inside.nll or 0.0) - (alone.nll or 0.0), token_logprobs=None)


def checked_labels(labels: Sequence[str], name: str) -> list[str]:
    """Return labels as texts.

    Raises:
        SpecError: there are none, or one of them stands there twice.
    """
    found = [str(label) for label in labels]
    if not found or len(set(found)) < len(found):
        raise SpecError(f"{name} must be distinct, and at least one", key=f"inferencer.{name}")
    return found
