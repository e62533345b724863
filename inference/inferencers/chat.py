"""Dialogues whose assistant turns are given by the data: which of them the model is asked for, and on what history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from inference.inferencers.base import Keep, Stored
from inference.inferencers.gen import GenInferencer
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Answer, Backend, Json, Message, Prompt, Request

InferMode = Literal["last", "every", "every_with_gt"]


class ChatInferencer(GenInferencer):
    """Asks for assistant turns of a dialogue.

    Args:
        infer_mode: ``last``: the last assistant turn, on the data's history; it alone is the answer. ``every``: each assistant
            turn, on the model's own earlier turns; ``every_with_gt``: each, on the data's history. The answer is the list of turns.
        max_out_len: at most this many tokens for each turn.
        stopping_criteria: strings at which generation stops.
        temperature: sampling temperature; 0 is greedy.
        seed: of the sampling.
        generation_kwargs: as for `GenInferencer`.
        repeats: how often each dialogue is asked.

    Raises:
        SpecError: an unknown mode; a wrong value, as for `GenInferencer`.
    """

    def __init__(
        self,
        infer_mode: InferMode = "every",
        max_out_len: int | None = None,
        stopping_criteria: Sequence[str] | str = (),
        temperature: float | None = None,
        seed: int | None = None,
        generation_kwargs: Mapping[str, Json] | None = None,
        repeats: int = 1,
    ) -> None:
        if infer_mode not in get_args(InferMode):
            raise SpecError(f"must be one of {', '.join(get_args(InferMode))}, got {infer_mode!r}", key="infer_mode")
        super().__init__(
            max_out_len=max_out_len,
            stopping_criteria=stopping_criteria,
            temperature=temperature,
            seed=seed,
            generation_kwargs=generation_kwargs,
            multiround=True,
            repeats=repeats,
        )
        self.infer_mode = infer_mode
        self.kind = "chat last alone" if infer_mode == "last" else f"chat {infer_mode}"
        self.gold_history = infer_mode == "every_with_gt"

    def ask(self, requests: Sequence[Request], backend: Backend, stored: Stored, keep: Keep) -> Iterator[Answer]:
        """Yield an answer a request, in the order of completion; the last turn alone is text like any other answer."""
        answers = super().ask(requests, backend, stored, keep)
        return (replace(answer, turns=None) for answer in answers) if self.infer_mode == "last" else answers

    def _prompt(self, row: Mapping[str, Any]) -> Prompt:
        prompt = super()._prompt(row)
        messages = list(prompt.messages or ())
        turns = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
        if self.infer_mode == "last" and turns:
            messages[turns[-1] :] = [blank(messages[turns[-1]])]
        elif self.infer_mode == "every":
            messages = [blank(message) if message["role"] == "assistant" else message for message in messages]
        return replace(prompt, messages=tuple(messages))


def blank(message: Message) -> Message:
    """Return a message as a slot to be filled."""
    return {**message, "content": ""}
