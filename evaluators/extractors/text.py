"""Views of a reply that keep every character's position, so that what is found in a view is found in the reply."""

from __future__ import annotations

import re

_NAMES = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratchpad)"
_TAG = re.compile(
    rf"(?P<open><{_NAMES}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|channel\|>analysis<\|message\|>)"
    rf"|(?P<close></{_NAMES}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>)",
    re.IGNORECASE,
)
_DECORATION = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|mathbf|mathrm|mathsf|mathit|bf|rm|bold|boldsymbol|mathbb|mathcal|operatorname)\b(?=\s*\{)"
    r"|\\(?:quad|qquad|displaystyle|left|right|bigl?|bigr?|Bigl?|Bigr?)\b|\\[,;:! ()\[\]]|</?(?:b|i|u|em|strong|br|p|span|center)\s*/?>|[*`$~]|(?<!\w)_+|_+(?!\w)",
    re.IGNORECASE,
)
_WIDE = str.maketrans({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0xA0: " ", 0x202F: " "})


def blank(text: str, start: int, end: int) -> str:
    """Return `text` with [start, end) as spaces; its length stays."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def hide_reasoning(text: str) -> str:
    """Return `text` with every block of reasoning as spaces.

    Blocks may be nested and the first one may lack its opening tag (the chat template wrote it). A block that is never closed hides
    all that follows: an unfinished thought states no answer. A tag inside backticks, or a stray one inside a line, is a mention.
    """
    tags = [tag for tag in _TAG.finditer(text) if not _quoted(text, tag)]
    if tags and tags[0]["close"]:
        text, tags = blank(text, 0, tags[0].end()), tags[1:]
    while tags:
        first, tags = tags[0], tags[1:]
        if first["close"]:
            continue
        depth, end = 1, None
        for number, tag in enumerate(tags):
            depth += 1 if tag["open"] else -1
            if tag["close"]:
                end = number
            if not depth:
                break
        if end is not None:
            text, tags = blank(text, first.start(), tags[end].end()), tags[end + 1 :]
        elif not text[text.rfind("\n", 0, first.start()) + 1 : first.start()].strip():
            return blank(text, first.start(), len(text))
    return text


def plain(text: str) -> str:
    """Return `text` with wide characters narrowed and markdown, HTML and LaTeX decoration as spaces; its length stays."""
    text = text.translate(_WIDE)
    return _DECORATION.sub(lambda match: " " * len(match[0]), text)


def _quoted(text: str, tag: re.Match[str]) -> bool:
    return text[max(tag.start() - 1, 0) : tag.start()] == "`" and text[tag.end() : tag.end() + 1] == "`"
