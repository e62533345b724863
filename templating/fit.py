"""Fitting the window: examples are dropped from the end until the prompt fits, for all candidates of a sample alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from leaderflow.core.types import Prompt, TokenCounter


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


def window(counter: TokenCounter | None, max_seq_len: int | None, max_out_len: int | None) -> Window | None:
    """Return the window, or None where nothing is known of it.

    Examples make room for `max_out_len` tokens of output as far as the window has them; a target is rejected only if there is no
    room for it at all.
    """
    if counter is None or max_seq_len is None:
        return None
    reserved = max_out_len if max_out_len is not None and max_out_len < max_seq_len else 0
    return Window(counter, max_seq_len - reserved, max_seq_len)


def fit(render: Callable[[int], list[Prompt]], shots: int, window: Window | None) -> Fitted:
    """Render with as many of the `shots` examples as fit.

    Args:
        render: number of examples to keep → the sample's prompts, one a label.
        shots: how many examples there are.
        window: the model's length, or None.
    """
    if window is None:
        return Fitted(render(shots))
    longest = 0
    for kept in range(shots, -1, -1):
        prompts = render(kept)
        longest = max(window.counter.count(prompt) for prompt in prompts)
        if longest <= window.limit:
            return Fitted(prompts, shots - kept)
    if longest <= window.hard:
        return Fitted(prompts, shots)
    return Fitted(prompts, shots, f"the prompt has {longest} tokens without examples, the model takes {window.hard}")


def asked_anyway(fitted: Fitted) -> Fitted:
    """Return the same without its rejection."""
    return replace(fitted, error=None)


def estimated_tokens(prompt: Prompt) -> int:
    """Return a rough number of tokens: a quarter of the UTF-8 bytes, for a model whose tokenizer is not known."""
    if prompt.messages is None:
        return len((prompt.text or "").encode()) // 4
    return sum(len(str(message["content"]).encode()) + 16 for message in prompt.messages) // 4
