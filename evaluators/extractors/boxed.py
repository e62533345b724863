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


_PLACEHOLDER = re.compile(
    r"[\s$.…_?□\-]*|\\?[lc]?dots|\\(?:square|Box|cdots)|#1|(?:\\(?:text|mathrm)\s*\{)?\s*[<\[]?\s*(?:(?:your|the|my"
    r"|final|numeric(?:al)?|correct"
    r"|actual|insert|option|choice)[\s_]+)*(?:answer|result|solution"
    r"|value|number|expression|letter|content|final|option|something)"
    r"(?:\s+(?:here|goes here|letter))?\s*[>\]]?\s*\}?|(?:你的|最终|这里填)?(?:答案|结果)|\\text\{\s*\}",
    re.IGNORECASE,
)
_CHOICE_OF_TWO = re.compile(r"[\s$.\\()]*(?:,\s*)?(?:or(?: else)?|或者?|还是)[\s$\\()]*(?:[\w ]{0,20}=?\s*)\Z")
_MISTAKE = re.compile(
    r"(?i:\b(?:an?|the|one) (?:wrong|incorrect|careless|naive) \w+ (?:would|gives?|leads?|yields?|might)\b|\b(?:mistake"
    r"|error|wrongly|mistakenly|pitfall)\b|\b(?:some|many|one|people|students)\b[^.]{0,30}\bwould\b)|误|易错"
)
_NOT_SO = re.compile(
    r"[\s$,)—–-]*(?i:is what (?:the|my|your|some)\b|where\s+\$?(?P<name>[a-z])\$? is\b|(?:which|this|that|it)?\s*(?:is"
    r"|would be|was)(?:n't|\s+not|\s+therefore not)?\s*(?:wrong|incorrect"
    r"|mistaken|withdrawn"
    r"|retracted|void|obsolete)\b|(?:which|this|that|it)?\s*(?:is|would be|was)(?:n't|\s+not)\s+(?:correct|right)\b)"
)
_OTHERS = re.compile(
    r"(?i:\b(?:answer key|key|book|textbook|manual|solution sheet|(?:my|your|the|a) (?:friend|teacher|student|classmate"
    r"|colleague|user|other model)|someone|he|she|they)\b[^.!?\n]{0,40}"
    r"\b(?:prints?|printed|gives?|gave|says?|said|lists?|listed|shows?|showed|has|had|claims?|claimed|states?|stated|writes?"
    r"|wrote|got|reports?|reported|boxed|marks?|marked)\b[^.!?\n]{0,20}\Z)"
    r"|(?:参考答案|答案|书上|课本|同学|老师|有人)[^。\n]{0,12}(?:给出|写|是|为|说|印)[^。\n]{0,6}\Z"
)
"""Who else puts a value in a box."""
_THEIR_FAULT = re.compile(
    r"[^.!?\n。]{0,60}?(?i:\b(?:wrong|incorrect|mistaken|a (?:mistake|misprint|typo)|an error|cannot be right|can't be right"
    r"|not (?:correct|right|true))\b|不对|错误|有误|错了)"
)
_NOT = re.compile(r"(?i:(?:\bnot|\brather than|\binstead of|\bscrap (?:that|the))[\s$\\(]*f?\Z)")
_SHORT = re.compile(r"\s*([^\n]{1,60}?)\s*\Z")
_TALK = re.compile(
    r"(?i:\?|\b(?:sorry|cannot|can't|do(?:n't| not) know|not sure|unable|I(?:'ll| will| think| guess)|isn't|not clear|let me"
    r"|let's|sure|okay)\b|^(?:step|first|given|if|whether)\b)"
    r"|[:,=+(-]\Z|无法|抱歉|不知道|不确定|让我"
)


def boxed(text: str) -> Extraction:
    r"""Return what the last ``\boxed{…}`` that stands holds, as written; one cut off, empty, or with a placeholder is no answer.

    Boxes in reasoning are not read, nor those after a question that a base model invents, nor those that are taken back.
    """
    view = hide_reasoning(text)
    for offset, part in turns(view):
        if found := _standing_box(part):
            start, end = found
            lead, tail = len(part[start:end]) - len(part[start:end].lstrip()), len(part[start:end].rstrip())
            return Extraction(part[start:end].strip(), offset + start + lead, offset + start + tail)
    return Extraction(None)


def final_answer(text: str) -> Extraction:
    """Return the final answer in the reply's own words: the last box, else the last answer tag, else the last answer phrase's.

    A reply of one short line is its own answer. Emphasis, quotes, dollar signs and the full stop around it are no part of it;
    round brackets are: "the answer is **(B)**." gives ``(B)``.
    """
    view = hide_reasoning(text)
    for offset, part in turns(view):
        found = _standing_box(part) or _tagged(part) or _phrased(part) or _only_line(part)
        if found:
            return _trimmed(view, offset + found[0], offset + found[1])
    return Extraction(None)


def _standing_box(part: str) -> tuple[int, int] | None:
    """Return the last box that holds something and is not withdrawn, shown as a form, or one of several possible answers."""
    boxes = [box for box in braced(part) if not _PLACEHOLDER.fullmatch(part[slice(*box)].strip()) and not _is_mistake(part, *box)]
    if not boxes or mentions.withdrawn(part, boxes[-1][1]) or mentions.denied(part, *boxes[-1]):
        return None
    start, end = boxes[-1]
    command = part.rfind("box", 0, start)
    if mentions.is_instruction(part, command, end + 1) or mentions.is_alternative(part, start):
        return None
    before = next((box for box in reversed(boxes) if box[1] < command), None)
    if before and part[slice(*before)] != part[start:end] and _CHOICE_OF_TWO.match(part[before[1] + 1 : command].rstrip("\\f")):
        return None
    return start, end


def _is_mistake(part: str, start: int, end: int) -> bool:
    """Return whether a box shows what would be wrong."""
    before = re.split(r"[.!?](?=\s)|\n|。", part[max(start - 160, 0) : start])[-1]
    lead = part[max(start - 40, 0) : start].rpartition("box")[0].rpartition("\\")[0]
    denied = _NOT_SO.match(part, end + 1)
    denied = denied if denied and denied["name"] in (None, part[start:end].strip()) else None
    theirs = _OTHERS.search(before.rpartition("box")[0].rstrip("$\\f")) and _THEIR_FAULT.match(part, end + 1)
    return bool(_MISTAKE.search(before) or denied or theirs or _NOT.search(lead))


def _only_line(part: str) -> tuple[int, int] | None:
    """Return the line of a reply that is nothing else, and neither talk nor cut off."""
    line = _SHORT.match(part)
    if not line or len(line[1].split()) > 8 or _TALK.search(line[1]) or not re.search(r"\w", line[1]):
        return None
    return line.span(1)


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
