"""The boxed or otherwise final answer of a reply, as it is written there."""

from __future__ import annotations

import re

from evaluators.extractors import mentions
from evaluators.extractors.text import braced, hide_reasoning, turns
from leaderflow.core.types import Extraction

_PHRASE = re.compile(
    r"(?i:(?<![A-Za-z])answer(?:\s+(?:to|for)\b[^.\n:;]{0,80}?)?\s*(?:\*\*|__)?\s*(?:\b(?:is|was|would be|must be"
    r"|should be)\b\s*(?::)?|[:：])\s*(?:(?:\*\*|__)(?=\s))?)"
    r"|答案\w{0,3}?(?:是|为|[:：])[:：]?|####[ \t]+(?=\S)"
)
_TAG = re.compile(r"<((?:final_?)?answer)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_END = re.compile(
    r"(?<!\bSt)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bDr)(?<!\bMt)[.!?](?=\s+[A-Z\"'(]|\s*\Z|\s*\n)|。|\n|, (?:because|since|as|so"
    r"|which)\b| (?:because|since)\b"
)
_WRAPPED = re.compile(
    r"\A(?:\*\*(.+)\*\*|__(.+)__|`(.+)`|\$\$?(.+?)\$?\$|\\\((.+)\\\)|\\\[(.+)\\\]|\"(.+)\"|“(.+)”|「(.+)」)\Z", re.DOTALL
)


def boxed(text: str) -> Extraction:
    r"""Return what the last ``\boxed{…}`` holds, braces nested as they may be; one that is cut off is no answer.

    Boxes in reasoning are not read, nor those after a question that a base model invents.
    """
    view = hide_reasoning(text)
    for offset, part in turns(view):
        if found := _last_box(part):
            return _trimmed(view, offset + found[0], offset + found[1])
    return Extraction(None)


def final_answer(text: str) -> Extraction:
    """Return the final answer in the reply's own words: the last box, else the last answer tag, else the last answer phrase's.

    Emphasis, quotes, dollar signs and the full stop around it are no part of it; round brackets are: "the answer is **(B)**."
    gives ``(B)``.
    """
    view = hide_reasoning(text)
    for offset, part in turns(view):
        found = _last_box(part) or _tagged(part) or _phrased(part)
        if found:
            return _trimmed(view, offset + found[0], offset + found[1])
    return Extraction(None)


def _last_box(part: str) -> tuple[int, int] | None:
    boxes = list(braced(part))
    outer = [box for box in boxes if part[box[0] : box[1]].strip()]
    return outer[-1] if outer else None


def _tagged(part: str) -> tuple[int, int] | None:
    tags = [tag.span(2) for tag in _TAG.finditer(part) if tag[2].strip()]
    return tags[-1] if tags else None


def _phrased(part: str) -> tuple[int, int] | None:
    for phrase in reversed(list(_PHRASE.finditer(part))[-20:]):
        start = phrase.end() + len(part[phrase.end() :]) - len(part[phrase.end() :].lstrip())
        end = next((m.start() for m in _END.finditer(part, start)), len(part))
        if part[start:end].strip(" *_`.:") and not mentions.is_mention(part, phrase.start(), phrase.end(), end):
            return start, end
    return None


def _trimmed(text: str, start: int, end: int) -> Extraction:
    """Take blanks, full stops and wrappers from both edges until none is left."""
    while True:
        value = text[start:end]
        lead = len(value) - len(value.lstrip())
        tail = len(value) - len(value.rstrip().rstrip(".。,;").rstrip())
        if wrapped := _WRAPPED.match(value[lead : len(value) - tail]):
            inner = wrapped.lastindex or 1
            lead, tail = lead + wrapped.start(inner), len(value) - lead - wrapped.end(inner)
        if not lead and not tail:
            return Extraction(value or None, start, end) if value else Extraction(None)
        start, end = start + lead, end - tail
