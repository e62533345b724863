"""Splits a model's thinking from its answer. Thinking is kept and counted, never scored."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

TAGS = ("think", "thinking", "thought", "reasoning", "mm:think", "seed:think")
"""Names of the tags around thinking, as in ``<think>…</think>``."""


_CHANNEL = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>(\w+)[^<]*<\|message\|>(.*?)(?:<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)|\Z)",
    re.DOTALL,
)
"""One message of a reply in channels (OpenAI's harmony format): group 1 names the channel, group 2 is its text."""


def split_reasoning(text: str, tags: Sequence[str] = TAGS) -> tuple[str | None, str | None]:
    """Return (reasoning, answer) of a reply.

    Blocks at the beginning are thinking, nested ones included; so is everything before a closing tag that was never opened, because
    chat templates may open the block in the prompt. Tags inside backticks are text (a fence beside them is none of theirs), and so
    is a tag later in the answer.

    Args:
        text: the reply.
        tags: names of the tags.

    Returns:
        reasoning: None where the reply holds none; several blocks are joined by a newline.
        answer: the reply without its reasoning and the blanks after it; None where the block is never closed.
    """
    if _CHANNEL.match(_body(text)):
        return _by_channel(text)
    pattern = _pattern(tuple(tags))
    blocks: list[str] = []
    rest = text
    while (opened := pattern.match(_body(rest))) and not _closes(opened):
        inner, after = _until_closed(_body(rest)[opened.end() :], pattern)
        blocks.append(inner.strip())
        if after is None:
            return "\n".join(blocks), None
        rest = after
    if not blocks:
        inner, after = _until_closed(text, pattern)
        if after is None:
            return None, text
        blocks, rest = [inner.strip()], after
    return "\n".join(blocks), rest.lstrip()


def holds_reasoning(text: str, reasoning: str, tags: Sequence[str] = TAGS) -> bool:
    """Say whether a reply whose reasoning came in a field of its own holds some of it, too.

    It does if it begins with a tag, or if an unopened closing tag stands alone on its line or follows a part of that reasoning. A
    tag in the middle of a sentence is a mention.
    """
    pattern, body = _pattern(tuple(tags)), _body(text)
    if pattern.match(body):
        return True
    before, after = _until_closed(body, pattern)
    if after is None:
        return False
    alone = before.rstrip(" \t").endswith("\n") and after.lstrip(" \t")[:1] in ("", "\n")
    return alone or before.strip() in reasoning


def _body(text: str) -> str:
    """Return a text without blanks at its beginning, invisible ones (a byte order mark, a zero-width space) included."""
    return re.sub(r"^[\s\ufeff\u200b\u2060]+", "", text)


def _by_channel(text: str) -> tuple[str | None, str | None]:
    """Everything but the channel `final` is thinking; without that channel there is no answer."""
    parts = _CHANNEL.findall(text)
    thought = [said.strip() for channel, said in parts if channel != "final"]
    final = [said for channel, said in parts if channel == "final"]
    return "\n".join(thought) if thought else None, "".join(final).lstrip() if final else None


@functools.lru_cache(maxsize=64)
def _pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of an opening or closing (a group holds the slash) tag outside backticks.

    ``[THINK]`` (Magistral), ``◁think▷`` (Kimi), ``<|START_THINKING|>`` (Command A) and ``<|begin_of_thought|>`` (Sky-T1,
    OpenThinker) are other spellings of ``<think>``.
    """
    forms = [rf"<(/?)(?:{'|'.join(re.escape(tag) for tag in tags)})\s*>"]
    if "think" in tags:
        forms += [r"(?-i:\[(/?)THINK\])", "◁(/?)think▷", r"<\|(?:start|(end))_thinking\|>", r"<\|(?:begin|(end))_of_thought\|>"]
    return re.compile(rf"(?<!(?<!`)`)(?:{'|'.join(forms)})(?!`(?!`))", re.IGNORECASE)


def _closes(tag: re.Match[str]) -> bool:
    return any(tag.groups())


def _until_closed(text: str, pattern: re.Pattern[str]) -> tuple[str, str | None]:
    """Return what stands before and after the closing tag that matches an opening one before `text`; None if there is none."""
    depth = 1
    for tag in pattern.finditer(text):
        depth += -1 if _closes(tag) else 1
        if depth == 0:
            return text[: tag.start()], text[tag.end() :]
    return text, None
