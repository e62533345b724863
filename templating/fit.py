"""Fitting the window: examples are dropped from the end until the prompt fits, for all candidates of a sample alike.

What is cut is found by counting alone, because a counter is all there is of a model here: a text is never split into tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from leaderflow.core.types import Message, Prompt, TokenCounter
from templating.target import Truncate


@dataclass(frozen=True, slots=True)
class Window:
    """A model's length in tokens: `limit` for a prompt with its examples, `hard` for a target that stands alone."""

    counter: TokenCounter
    limit: int
    hard: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """A sample's prompts, how many examples went, and why it can never be answered (None: it can)."""

    prompts: list[Prompt]
    dropped: int = 0
    error: str | None = None
    cut: int = 0
    """Characters that were cut out of the target."""


def window(counter: TokenCounter | None, max_seq_len: int | None, max_out_len: int | None) -> Window | None:
    """Return the window, or None where nothing is known of it.

    Examples make room for `max_out_len` tokens of output as far as the window has them; a target is rejected only if there is no
    room for it at all.
    """
    if counter is None or max_seq_len is None:
        return None
    reserved = max_out_len if max_out_len is not None and max_out_len < max_seq_len else 0
    return Window(counter, max_seq_len - reserved, max_seq_len)


def fit(render: Callable[[int], list[Prompt]], shots: int, window: Window | None, truncate: Truncate | None = None) -> Fitted:
    """Render with as many of the `shots` examples as fit.

    Args:
        render: number of examples to keep → the sample's prompts, one a label.
        shots: how many examples there are.
        window: the model's length, or None.
        truncate: where a lone target that is too long is cut; None rejects it. Candidates are never cut, since they would then be
            compared in different contexts.
    """
    if window is None:
        return Fitted(render(shots))
    longest = 0
    for kept in range(shots, -1, -1):
        prompts = render(kept)
        longest = max(window.counter.count(prompt) for prompt in prompts)
        if longest <= window.limit:
            return Fitted(prompts, shots - kept)
    if truncate is not None and len(prompts) == 1:
        prompt, gone = cut(prompts[0], window, truncate)
        if gone:
            return Fitted([prompt], shots, cut=gone)
    if longest <= window.hard:
        return Fitted(prompts, shots)
    return Fitted(prompts, shots, f"the prompt has {longest} tokens without examples, the model takes {window.hard}")


def cut(prompt: Prompt, window: Window, where: Truncate) -> tuple[Prompt, int]:
    """Cut the longest text of a prompt, at its start or in its middle, until the prompt fits.

    Returns:
        The prompt that keeps most and how many characters went; the prompt as it was and 0 if nothing is left to fit.
    """
    longest = _longest(prompt)
    text = prompt.text if longest is None else str(prompt.messages[longest]["content"])  # type: ignore[index]
    low, high = 0, len(text or "")
    while low < high:
        middle = (low + high + 1) // 2
        fits = window.counter.count(_with(prompt, longest, _kept(text or "", middle, where))) <= window.limit
        low, high = (middle, high) if fits else (low, middle - 1)
    return (_with(prompt, longest, _kept(text or "", low, where)), len(text or "") - low) if low else (prompt, 0)


def _kept(text: str, size: int, where: Truncate) -> str:
    head = 0 if where == "left" else size // 2
    return text[:head] + text[len(text) - (size - head) :]


def _longest(prompt: Prompt) -> int | None:
    """Return the place of the message with the longest text; None for a text."""
    if prompt.messages is None:
        return None
    sizes = [len(message["content"]) if isinstance(message["content"], str) else -1 for message in prompt.messages]
    return sizes.index(max(sizes))


def _with(prompt: Prompt, place: int | None, text: str) -> Prompt:
    if place is None or prompt.messages is None:
        return replace(prompt, text=text)
    messages = [{**message, "content": text} if i == place else message for i, message in enumerate(prompt.messages)]
    return replace(prompt, messages=tuple(cast(list[Message], messages)))


def asked_anyway(fitted: Fitted) -> Fitted:
    """Return the same without its rejection."""
    return replace(fitted, error=None)


def estimated_tokens(prompt: Prompt) -> int:
    """Return a rough number of tokens: a quarter of the UTF-8 bytes, for a model whose tokenizer is not known."""
    if prompt.messages is None:
        return len((prompt.text or "").encode()) // 4
    return sum(len(str(message["content"]).encode()) + 16 for message in prompt.messages) // 4
