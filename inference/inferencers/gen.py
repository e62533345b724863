"""Generation: one request for each model input and repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from inference.inferencers.base import Keep, Stored, rendered_prompt
from inference.turns import converse
from leaderflow.core import identity as ids
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Answer, Backend, Capability, Json, Mode, Prompt, Request, Settings

NAMED = ("temperature", "top_p", "top_k", "seed")
"""Sampling settings with a field of their own in `Settings`."""

ELSEWHERE = {
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "max_new_tokens", "max_out_len", "max_length"), "max_out_len"),
    **dict.fromkeys(("min_tokens", "min_new_tokens", "min_out_len"), "the inferencer's min_out_len"),
    **dict.fromkeys(("n", "num_return_sequences"), "the dataset's n"),
    **dict.fromkeys(("model", "messages", "prompt", "stream"), "nothing: leaderflow sets it"),
}
"""What must not stand in generation_kwargs, because it has a place of its own."""


class GenInferencer:
    """Asks the model to go on from each rendered prompt.

    What is given here beats the model block's values. With a `seed`, repeat r is asked with ``seed + r``: repeats differ and can be
    had again.

    Args:
        max_out_len: at most this many tokens are generated.
        min_out_len: at least this many, where the backend can.
        stopping_criteria: strings at which generation stops; they are cut off from the output.
        temperature: sampling temperature; 0 is greedy.
        top_p: nucleus sampling.
        top_k: sampling among the k most likely tokens.
        seed: of the sampling.
        generation_kwargs: further settings; those that are not named above reach the API's body or the engine as they are.
        multiround: fill every empty assistant turn of the conversation in order, each with the model's own earlier turns before it.
        repeats: how often each input is asked (`n` of the dataset).

    Raises:
        SpecError: a limit below 1, an empty stop string.
    """

    mode: Mode = "gen"
    needs: Capability = "generate"
    choice: str | None = None

    def __init__(
        self,
        max_out_len: int | None = None,
        min_out_len: int | None = None,
        stopping_criteria: Sequence[str] | str = (),
        temperature: float | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        seed: int | None = None,
        generation_kwargs: Mapping[str, Json] | None = None,
        multiround: bool = False,
        repeats: int = 1,
    ) -> None:
        self.repeats, self.multiround, self.gold_history = repeats, multiround, False
        self.kind = "multiround" if multiround else "generate"
        given = {"temperature": temperature, "top_p": top_p, "top_k": top_k, "seed": seed}
        named = {name: value for name, value in given.items() if value is not None}
        self._kwargs = {**(generation_kwargs or {}), **named}
        self._max_out_len = None if max_out_len is None else checked_limit(max_out_len, "max_out_len")
        self._min_out_len = None if min_out_len is None else checked_limit(min_out_len, "min_out_len")
        self._stop = stops(stopping_criteria, "stopping_criteria")

    def settings(self, defaults: Settings) -> Settings:
        """Return the settings of repeat 0: this inferencer's own over `defaults`."""
        own = with_kwargs(defaults, self._kwargs)
        return replace(
            own,
            max_out_len=own.max_out_len if self._max_out_len is None else self._max_out_len,
            min_out_len=own.min_out_len if self._min_out_len is None else self._min_out_len,
            stop=tuple(dict.fromkeys((*own.stop, *self._stop))),
        )

    def requests(self, rendered: pa.Table, identity: str, defaults: Settings) -> list[Request]:
        """Return a request for each model input × repeat, in row order, rows with status ``rejected`` left out."""
        settings = [with_repeat(self.settings(defaults), repeat) for repeat in range(self.repeats)]
        texts = [ids.settings_json(s) for s in settings]
        rows = [row for row in rendered.to_pylist() if row["status"] == "ok"]
        return [
            Request(self._key(row, identity, texts[repeat], repeat), self._prompt(row), settings[repeat], repeat)
            for row in rows
            for repeat in range(self.repeats)
        ]

    def ask(self, requests: Sequence[Request], backend: Backend, stored: Stored, keep: Keep) -> Iterator[Answer]:
        """Yield an answer a request, in the order of completion."""
        if self.multiround:
            return converse(requests, backend.generate, stored, keep, gold_history=self.gold_history)
        return backend.generate(requests)

    def measured(self, request: Request, answer: Answer) -> Answer:
        """Return the answer as it is."""
        return answer

    def _key(self, row: Mapping[str, Any], identity: str, settings: Mapping[str, Json], repeat: int) -> str:
        return ids.request_key(row["input_key"], identity, settings, self.kind, repeat, row["occurrence"])

    def _prompt(self, row: Mapping[str, Any]) -> Prompt:
        prompt = rendered_prompt(row)
        if self.multiround and prompt.messages is None:
            raise SpecError(
                "multiround needs chat messages with empty assistant turns, but this model is given plain text", key="multiround"
            )
        return prompt


def with_repeat(settings: Settings, repeat: int) -> Settings:
    """Return the settings of a repeat: its own seed, where there is one."""
    return settings if settings.seed is None else replace(settings, seed=settings.seed + repeat)


def with_kwargs(settings: Settings, kwargs: Mapping[str, Json]) -> Settings:
    """Return settings overridden by generation_kwargs; what has no field of its own goes to `extra`.

    Raises:
        SpecError: an argument that has a place of its own.
    """
    if misplaced := sorted(set(kwargs) & set(ELSEWHERE)):
        raise SpecError(f"{misplaced[0]!r} cannot stand here; use {ELSEWHERE[misplaced[0]]}", key="generation_kwargs")
    named = {name: value for name, value in kwargs.items() if name in NAMED}
    for name, value in named.items():
        kinds = int if name in ("top_k", "seed") else (int, float)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
            raise SpecError(f"must be a {'whole ' if kinds is int else ''}number, got {value!r}", key=f"generation_kwargs.{name}")
        if isinstance(value, int) and kinds is not int:
            named[name] = float(value)  # 0 and 0.0 are one setting, so one request
    if "stop" in kwargs:
        named["stop"] = tuple(dict.fromkeys((*settings.stop, *stops(kwargs["stop"] or (), "generation_kwargs.stop"))))
    extra = {name: value for name, value in kwargs.items() if name not in (*NAMED, "stop")}
    return replace(settings, **named, extra={**settings.extra, **extra})


def stops(value: Sequence[str] | str, key: str) -> tuple[str, ...]:
    """Return stop strings as a tuple without doubles.

    Raises:
        SpecError: an empty string, which would stop at once, or something that is no string.
    """
    if not isinstance(value, str | list | tuple):
        raise SpecError(f"must be a text or a list of texts, got {value!r}", key=key)
    found = (value,) if isinstance(value, str) else tuple(value)
    if bad := [item for item in found if not isinstance(item, str) or not item]:
        raise SpecError(f"a stop must be a text of at least one character, got {bad[0]!r}", key=key)
    return tuple(dict.fromkeys(found))


def checked_limit(value: int, name: str) -> int:
    """Return a number of tokens.

    Raises:
        SpecError: it is no integer of at least 1.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SpecError(f"must be a whole number of at least 1, got {value!r}", key=name)
    return value
