"""Recorded postprocessors that keep a line or a part of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from leaderflow.core.errors import DataError

_LIST_MARKS = ("1. ", "- ")


def general(text: str) -> str:
    """Cut at the first newline, full stop or comma; drop punctuation and articles, squeeze blanks."""
    if not isinstance(text, str):
        raise DataError(f"the postprocessor 'general' takes text, got {type(text).__name__}")
    head = re.split(r"[\n.,]", text, maxsplit=1)[0]
    bare = re.sub(r"[^\w\s]", "", head)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", "", bare, flags=re.IGNORECASE).split())


def general_cn(text: str) -> str:
    """Return the raw text cut into words by jieba, joined by blanks."""
    import jieba

    jieba.setLogLevel(60)
    return " ".join(jieba.cut(text))


def unchanged(text: str, is_chinese: bool = False, is_deepseek: bool = False) -> str:
    """Return the text as it is; the arguments are accepted and have no effect."""
    return text


def stripped(text: str) -> str:
    """Return the text without blanks at its edges."""
    return text.strip()


def first_line(text: str) -> str:
    """Return the first line of the stripped text."""
    return text.strip().split("\n")[0]


def first_line_chinese(text: str) -> str:
    """Return the first line of the stripped text, cut into words by jieba."""
    return general_cn(first_line(text))


def first_line_unstripped(text: str) -> str:
    """Return the first line after leading newlines; blanks stay."""
    return text.lstrip("\n").split("\n")[0]


def unlisted_line(text: str) -> str:
    """Return the first line without its list mark."""
    line = first_line(text)
    for mark in _LIST_MARKS:
        line = line.replace(mark, "") if line.startswith(mark) else line
    return line


def headline(text: str) -> str:
    """Return the first line without its list mark and Chinese punctuation at its edges."""
    return unlisted_line(text).strip("“，。！”")


def entity(text: str) -> str:
    """Return the first line without ``Answer: ``."""
    return first_line(text).replace("Answer: ", "").strip()


def after(text: str, mark: str) -> str:
    """Return what stands between the first and the second `mark`, or the whole text without one."""
    parts = text.split(mark)
    return parts[1] if len(parts) > 1 else text


after_chinese_answer: Callable[[str], str] = partial(after, mark="答案是")
"""What follows 答案是, blanks included."""


def question_cut(text: str) -> str:
    """Return the text before the next Chinese question."""
    return text.split("问题：")[0].strip()


def limited(text: str, max_chars: int | None = None) -> str:
    """Return the stripped text, cut to `max_chars` characters."""
    return text.strip()[:max_chars]


def last_line(text: str) -> str:
    """Return the last line that is not blank, or the text itself."""
    return next((line for line in reversed(text.split("\n")) if line.strip()), text)


def game24(text: str) -> str:
    """Return the left side of the last line's equation, in lower case."""
    return text.strip().split("\n")[-1].lower().replace("answer: ", "").split("=")[0]


def without_commas(text: str) -> str:
    """Return the text without commas."""
    return text.replace(",", "")


def teval(text: str) -> str:
    """Return the text before a chat marker, without a JSON fence."""
    for marker in ("<eoa>", "<TOKENS_UNUSED_1>", "<|im_end|>", "\nuser", "\nassistant", "\nUSER", "[INST]"):
        text = text.split(marker)[0]
    return text.strip().removeprefix("```json").strip("`").strip()


def with_language(text: str, lang_code: str) -> list[str]:
    """Return the text and its language code; the evaluator extracts."""
    return [text, lang_code]


def with_language_name(text: str, lang_fullname: str) -> list[str]:
    """Return the text and its language's name; the evaluator extracts."""
    return [text, lang_fullname]
