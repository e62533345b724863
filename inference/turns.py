"""Multi-turn generation: every empty assistant turn of a conversation is asked for in order, with the model's own earlier turns.

All conversations advance together, turn by turn, so that any backend can batch them. Each turn is stored like an answer of its own,
under a key made of the conversation's request key and the exact history: a killed run goes on at the turn where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leaderflow.core.identity import canonical_json, prompt_json, sha256_hex
from leaderflow.core.types import Answer, Message, Prompt, Request, Status

Generate = Callable[[Sequence[Request]], Iterator[Answer]]

Stored = Callable[[Sequence[str]], Mapping[str, Answer]]
"""Request keys → the answers that are stored already."""


class Conversation:
    """One request whose messages hold slots: assistant turns without content. Without a slot, the reply is one more turn.

    Args:
        request: with messages.
        gold_history: every assistant turn is a slot, and the history holds what the data has there in place of the model's reply.
    """

    def __init__(self, request: Request, gold_history: bool = False) -> None:
        self.request = request
        self.messages: list[Message] = list(request.prompt.messages or ())
        slot = is_assistant if gold_history else is_slot
        if not any(map(slot, self.messages)):
            self.messages.append({"role": "assistant", "content": ""})
        self._slots = [place for place, message in enumerate(self.messages) if slot(message)]
        self._history = list(self.messages) if gold_history else self.messages
        self._replies: list[Answer] = []

    def next_turn(self) -> Request:
        """Return the request for the next slot: everything said before it."""
        prompt = Prompt(messages=tuple(self._history[: self._slots[0]]))
        key = sha256_hex(canonical_json([self.request.request_key, prompt_json(prompt)]))
        return replace(self.request, request_key=key, prompt=prompt)

    def take(self, reply: Answer) -> Answer | None:
        """Fill the next slot; return the whole answer when it was the last one, or when the conversation cannot go on."""
        self._replies.append(reply)
        place = self._slots.pop(0)
        self.messages[place] = {**self.messages[place], "content": reply.output or ""}
        failed = reply.status not in ("ok", "truncated")
        return self._answer(place, reply.status) if failed or not self._slots else None

    def _answer(self, place: int, status: Status) -> Answer:
        cut = any(reply.status == "truncated" for reply in self._replies)
        turns = tuple(str(m["content"]) for m in self.messages[: place + 1] if is_assistant(m))
        return replace(
            self._replies[-1],
            request_key=self.request.request_key,
            status="truncated" if cut and status == "ok" else status,
            turns=turns,
            prompt_tokens=sum(reply.prompt_tokens or 0 for reply in self._replies),
            output_tokens=sum(reply.output_tokens or 0 for reply in self._replies),
            **summed_reasoning(self._replies),
            latency_s=sum(reply.latency_s or 0.0 for reply in self._replies),
            attempts=sum(reply.attempts for reply in self._replies),
        )


def summed_reasoning(replies: Sequence[Answer]) -> dict[str, Any]:
    """Return the tokens of reasoning of several replies together, a share if one of them is; unknown if one is unknown."""
    counts = [reply.reasoning_tokens for reply in replies if reply.reasoning or reply.reasoning_tokens is not None]
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts):
        return {"reasoning_tokens": None, "reasoning_counted": None}
    shared = any(reply.reasoning_counted == "share" for reply in replies)
    return {"reasoning_tokens": sum(known), "reasoning_counted": "share" if shared else "reported"}


def converse(
    requests: Sequence[Request], generate: Generate, stored: Stored, keep: Callable[[Answer], None], *, gold_history: bool = False
) -> Iterator[Answer]:
    """Yield one answer a request: `output` is the last turn, `turns` are all assistant turns, those of the data included.

    Args:
        requests: with messages.
        generate: asks the model.
        stored: looks turns up that were asked before.
        keep: stores a turn.
        gold_history: as for `Conversation`.
    """
    waiting = [Conversation(request, gold_history) for request in requests]
    while waiting:
        turns = [(talk.next_turn(), talk) for talk in waiting]
        asked = {turn.request_key: (turn, talk) for turn, talk in turns}
        known = stored(list(asked))
        missing = [turn for key, (turn, _) in asked.items() if key not in known]
        waiting = []
        for reply in _replies(known, missing, generate, keep):
            talk = asked[reply.request_key][1]
            if (answer := talk.take(reply)) is not None:
                yield answer
            else:
                waiting.append(talk)


def is_assistant(message: Message) -> bool:
    """Say whether a message is an assistant turn."""
    return message["role"] == "assistant"


def is_slot(message: Message) -> bool:
    """Say whether a message is an assistant turn to be filled."""
    return is_assistant(message) and not message["content"]


def _replies(
    known: Mapping[str, Answer], missing: Sequence[Request], generate: Generate, keep: Callable[[Answer], None]
) -> Iterator[Answer]:
    yield from known.values()
    for reply in generate(missing) if missing else ():
        keep(reply)
        yield reply
