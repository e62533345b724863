"""The boxed or otherwise final answer of a reply, as it is written there."""

from __future__ import annotations

import re
from typing import NamedTuple

from evaluators.extractors import mentions
from evaluators.extractors.standing import taken_back
from evaluators.extractors.text import BOX, braced, hide_reasoning, turns
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


_OR = re.compile(r"[\s$.\\()]*(?:[,，]\s*)?(?:要么是?|or(?: else)?|或者?|还是|oder|ou|o)[\s$\\()]*(?:[\w ]{0,20}=?\s*)\Z")
_AND = re.compile(r"[\s$.\\()]*(?:,|and|及|和|与|、)[\s$\\()]*\Z")
_CANDIDATES = re.compile(r"(?:\b(?:candidates?|possible (?:answers|results)|possibilit\w+|either)\b)|可能|候选")
_MISTAKE = re.compile(
    r"(?:\b(?:an?|the|one) (?:wrong|incorrect|careless|naive) \w+ (?:would|gives?|leads?|yields?|might)\b|\b(?:mistake"
    r"|error|wrongly|mistakenly|pitfall)\b|\b(?:some|many|one|people|students)\b[^.]{0,30}\bwould\b"
    r"|\b(?:one|some|you|we|people|students) (?:could|might|may|can) (?:\w+ )?(?:think|believe|suppose|guess|be tempted)\b"
    r"|\btempting\b|\bman könnte (?:meinen|denken)|\bon (?:pourrait|peut) (?:croire|penser)|\bse podría pensar"
    r"|\bsi potrebbe pensare"
    r"|\bpoderia-se pensar|\bможно (?:было бы )?подумать)|误|易错|可能会(?:认为|以为|得)"
)
_NOT_SO = re.compile(
    r"[\s$,)—–-]*(?i:is what (?:the|my|your|some)\b|where\s+\$?(?P<name>[a-z])\$? is\b|(?:which|this|that|it)?\s*(?:is"
    r"|would be|was)(?:n't|\s+not|\s+therefore not)?\s*(?:wrong|incorrect"
    r"|mistaken|withdrawn"
    r"|retracted|void|obsolete)\b|(?:which|this|that|it)?\s*(?:is|would be|was)(?:n't|\s+not)\s+(?:correct|right)\b)"
)
_OTHERS = re.compile(
    r"(?:\b(?:answer key|key|book|textbook|manual|solution sheet|(?:my|your|the|a) (?:friend|teacher|student|classmate"
    r"|colleague|user|other model)|someone|he|she|they)\b[^.!?\n]{0,40}"
    r"\b(?:prints?|printed|gives?|gave|says?|said|lists?|listed|shows?|showed|has|had|claims?|claimed|states?|stated|writes?"
    r"|wrote|got|reports?|reported|boxed|marks?|marked)\b[^.!?\n]{0,20}\Z)"
    r"|(?:参考答案|答案|书上|课本|同学|老师|有人)[^。\n]{0,12}(?:给出|写|是|为|说|印)[^。\n]{0,6}\Z"
)
"""Who else puts a value in a box."""
_THEIRS = re.compile(
    r"(?:(?:\b(?:student|textbook|book|teacher|user)'s(?: \w+){0,4}:|\bthe (?:textbook|book|key|manual|forum|teacher|user"
    r"|author)'s(?: \w+){0,4}"
    r"|\b(?:you|someone|somebody|people|the (?:\w+ )?(?:book|textbook|key|manual|forum|sheet|user|student|teacher"
    r"|thread|post))"
    r" (?:\w+ )?(?:quoted?|propos\w+|suggest\w*|claim\w*|post\w*|print\w*|wrote|said|says|answered|stated?s?|lists?|listed|boxed)"
    r"(?:(?!\b(?:so|hence|thus|but|and)\b)[^.:;=\n]){0,30}),?|\b(?:let|define))\Z"
    r"|(?:网上|书上|课本)[^。，；：\n]{0,12}\Z|(?:同学|老师|有人|[你您他她])[^。，；\n]{0,8}(?:给出|写|说|印|认为|觉得"
    r"|提[出到])[^。，；\n]{0,6}\Z|[设令记]\Z"
)
"""What makes it the box of somebody else, or the name of something."""
_HYPOTHETICAL = re.compile(
    r"(?:\b(?:would|had|your|isn't asked|not asked|wäre|hätte|würde|serait|aurait|sería|habría|sarebbe|seria|teria|было бы)\b"
    r"|\b[a-z]\w+ (?:says|said|claims|claimed|thinks|suggests|proposes)\Z)|如果"
    r"|若|假如"
)
"""What makes it an aside when there is a box without such words."""
_STATED = re.compile(
    r"(?:^\W*(?:as (?:requested|required|asked|the|per|you)|following|according to|writing|written|in the (?:required"
    r"|requested|desired)"
    r"|putting|expressed)\b)|(?:答案|结果)[是为应:：\s]*\Z"
)
"""What leads to an answer although it speaks of the form."""
_ASKED = re.compile(r"(?:\b(?:should|must|will|'ll|going to|e\.g|example|please|template)\b)|例如|比如|请|形如|示例|如[:：]")
_WHICH_IS_THEIRS = re.compile(
    r"[\s$,)]*(?i:(?:which|that|as) (?:your|his|her|their|the (?:book|textbook|key|user|teacher|forum|other)|you|he|she|they"
    r"|some|many)\b"
    r"[^.;\n]{0,30}?\b(?:had|has|got|gave|gives|wrote|said|says|claimed?s?|found|suggest\w*|propos\w*|mention\w*|quoted?|posted)\b)"
    r"|[\s$,，)]*(?:这?是)(?:你|您|他|她|书上|同学|老师)"
)
_FIRST_STANDS = re.compile(
    r"(?i:\b(?:the )?(?:first|former|earlier|previous|original)(?: (?:one|box|answer|value|result))? (?:(?:still|therefore|thus) )?"
    r"(?:stands|counts|holds|is (?:the )?(?:right|correct|final|answer|valid)|applies|remains)\b)|以第一个(?:框|答案|结果)?为准"
    r"|第一个(?:框|答案)?(?:才)?(?:是)?(?:对|正确)"
)
"""Saying that not the last box is the answer but the one before."""
_ENDED = re.compile(r"[.;!?](?=\s)|\n|[。；！？]")
_CUT_OFF = re.compile(r"[\w,(=+]\s*\Z")
_FIRST_STEP = re.compile(r"(?:\bstep \d|^\W*first)|首先|第一步|步骤")
_THEIR_FAULT = re.compile(
    r"[^.!?\n。]{0,60}?(?i:\b(?:wrong|incorrect|mistaken|a (?:mistake|misprint|typo)|an error|cannot be right|can't be right"
    r"|not (?:correct|right|true))\b|不对|错误|有误|错了)"
)
_NOT = re.compile(
    r"(?:(?:\bnot|\bnicht|\bet non|\by no|\be não|\bа не|\brather than|\binstead of|\bscrap (?:that|the)|\b(?:retract|withdraw"
    r"|take back|disregard)\b[^.\n]{0,20})\Z)"
    r"|(?:不是|而非|并非)\Z"
)
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
        if own := _own_boxes(part):
            if not (found := _standing(part, own)):
                break
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
        found = _standing(part, _own_boxes(part)) or _tagged(part) or _phrased(part) or _only_line(part)
        if found:
            return _trimmed(view, offset + found[0], offset + found[1])
    return Extraction(None)


class _Box(NamedTuple):
    """What a box holds is at [start, end); its command begins at `command`, after the sentence `lead`, in lower case."""

    start: int
    end: int
    command: int
    lead: str


def _own_boxes(part: str) -> list[_Box]:
    """Return the boxes that hold something that the reply says itself."""
    boxes = []
    for start, end in braced(part):
        opened = re.search(rf"{BOX}\Z", part[max(start - 20, 0) : start])
        command = max(start - 20, 0) + opened.start() if opened else start
        lead = _ENDED.split(part[max(command - 160, 0) : command])[-1].rstrip("$*([ \\").lower()
        box = _Box(start, end, command, lead)
        if _is_answer(part, box) and not _is_aside(part, box):
            boxes.append(box)
    return boxes


def _standing(part: str, own: list[_Box]) -> tuple[int, int] | None:
    """Return the last box; None where that one is taken back or one of several possible answers."""
    if not own:
        return None
    sure = [box for box in own if len(own) == 1 or not _HYPOTHETICAL.search(box.lead)]
    start, end, command, lead = (sure or own)[-1]
    after = part[end + 1 :]
    if len(own) > 1 and _FIRST_STANDS.search(after[:200]):
        start, end, command, lead = own[0]
        return start, end
    if taken_back(after, part[start:end]) or mentions.is_alternative(part, start):
        return None
    if _CUT_OFF.search(after, 20) and _FIRST_STEP.search(lead):
        return None
    before = next((box for box in reversed(own) if box.end < command), None)
    if before and part[before.start : before.end] != part[start:end]:
        between = part[before.end + 1 : command]
        if _OR.match(between) or (_AND.match(between) and _CANDIDATES.search(before.lead)):
            return None
    return start, end


def _is_answer(part: str, box: _Box) -> bool:
    """Return whether a box holds something, and not as the form in which an answer is to be written."""
    if mentions.is_placeholder(part[box.start : box.end]) or mentions.is_printed(part[: box.command]):
        return False
    stated = _STATED.search(box.lead) and not _ASKED.search(box.lead)
    return bool(stated) or not mentions.is_instruction(part, box.command, box.end + 1)


def _is_aside(part: str, box: _Box) -> bool:
    """Return whether a box shows what somebody else says, what would be wrong, or what holds under another condition."""
    denied = _NOT_SO.match(part, box.end + 1)
    if denied and denied["name"] in (None, part[box.start : box.end].strip()):
        return True
    if _WHICH_IS_THEIRS.match(part, box.end + 1):
        return True
    theirs = _THEIRS.search(box.lead) or (_THEIR_FAULT.match(part, box.end + 1) and _OTHERS.search(box.lead))
    return bool(theirs or _MISTAKE.search(box.lead) or _NOT.search(box.lead))


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
