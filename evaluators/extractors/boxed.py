"""The boxed or otherwise final answer of a reply, as it is written there."""

from __future__ import annotations

import re
from typing import NamedTuple

from evaluators.extractors import mentions
from evaluators.extractors.asides import is_aside, is_elsewhere
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
_HYPOTHETICAL = re.compile(
    r"(?:\b(?:would|had|your|isn't asked|not asked|wäre|hätte|würde|serait|aurait|sería|habría|sarebbe|seria|teria|бы)\b"
    r"|\b[a-z]\w+ (?:says|said|claims|claimed|thinks|suggests|proposes)\Z)|如果"
    r"|若|假如|倘若|要是|^(?!.*\b(?:so|thus|hence|answer|therefore)\b)\W*(?:as a check|(?:check|verification|probe|vérification"
    r"|comprobación|verifica|verificação|проверка)(?= ?[:.])|by the way|incidentally|for comparison"
    r"|as an aside"
    r"|zur kontrolle|übrigens|au passage|por cierto|a propósito|per inciso|кстати)\b|^\W*(?:检验|验算|验证|顺便|附带|另外说一句)"
)
"""What makes it an aside when there is a box without such words."""
_STATED = re.compile(
    r"(?:^\W*(?:as (?:requested|required|asked|the|per|you)|following|according to|writing|written|in the (?:required"
    r"|requested|desired)"
    r"|putting|expressed)\b)|(?:答案|结果)[是为应:：\s]*\Z"
)
"""What leads to an answer although it speaks of the form."""
_ASKED = re.compile(r"(?:\b(?:should|must|will|'ll|going to|e\.g|example|please|template)\b)|例如|比如|请|形如|示例|如[:：]")
_UNSAID = re.compile(
    r"[^.!?。]{0,10}[.;,。；，!?]?[^.;。；\n]{0,50}(?i:\b(?:problem|question|statement|text|exercise|task|it"
    r"|wording) (?:\w+ )?(?:doesn't|does not|didn't)"
    r" (?:say|specify|state|tell|make (?:it )?clear)|\bl'énoncé ne (?:dit|précise)|\b(?:aufgabe|frage|text) (?:sagt"
    r"|lässt)[^.\n]{0,20}(?:nicht|offen)"
    r"|\benunciado (?:no|não) (?:dice|diz|aclara|especifica)|\b(?:testo|problema) non (?:dice|specifica)|\bусловии не (?:сказано"
    r"|указано))"
    r"|[^。\n]{0,12}[。；，][^。\n]{0,6}题目?[^。\n]{0,4}(?:没有?|未)(?:说明|明确|指明|说)"
)
"""Saying that the question leaves open which of several boxes it is."""
_BOTH = re.compile(
    r"(?i:\bboth (?:readings|interpretations|answers|values|results|cases|views) (?:are|remain|seem|can|look)\b|\b(?:nothing"
    r"|don't (?:find|see) anything) in the"
    r" (?:wording|text|problem)\b|\bbeide (?:lesarten|deutungen|antworten) (?:sind|bleiben)|\bles deux (?:lectures"
    r"|interprétations|réponses) (?:sont|restent)"
    r"|\b(?:ambas|las dos) (?:lecturas|interpretaciones|respuestas)\b)|两种(?:理解|解读|情况)都"
)
_SECOND_CASE = re.compile(
    r"\b(?:case|reading|interpretation|convention|sense|meaning)\b.*\bin the (?:second|other|latter)\b[^.]{0,20}\Z"
    r"|\bim ersten fall\b.*\bim zweiten\b"
    r"|\bdans le premier cas\b.*\bdans le second\b|\ben el primer caso\b.*\ben el segundo\b|\bnel primo caso\b.*\bnel secondo\b"
    r"|\bno primeiro caso\b.*\bno segundo\b|\bв первом случае\b.*\bво втором\b|前者.*后者"
)
_ONE_CASE = re.compile(r"(?i:\b(?:first|second|former|latter|zweite\w*|second[eao]?|segund[ao]|втор\w+)\b)|前者|后者")
_CLAIMED = re.compile(
    r"\b(?!i\b|this\b|that\b|it\b|we\b|which\b|theorem\b|formula\b|what\b)[a-z]\w+ (?:claims?|insists?|maintains?|argues?|says"
    r"|thinks|believes)\b[^.;]{0,60}\Z"
)
"""What leaves several boxes side by side: readings, cases, and what others claim."""
_FIRST_STANDS = re.compile(
    r"(?i:\b(?:the )?(?:first|former|earlier|previous|original)(?: (?:one|box|answer|value|result))? (?:(?:still|therefore|thus) )?"
    r"(?:stands|counts|holds|is (?:the )?(?:right|correct|final|answer|valid)|applies|remains)\b)|以第一个(?:框|答案|结果)?为准"
    r"|第一个(?:框|答案)?(?:才)?(?:是)?(?:对|正确)"
)
"""Saying that not the last box is the answer but the one before."""
_ENDED = re.compile(r"[.;!?](?=\s)|\n|[。；！？]")
_CUT_OFF = re.compile(r"[\w,(=+]\s*\Z")
_FIRST_STEP = re.compile(r"(?:\bstep \d|^\W*first)|首先|第一步|步骤")
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
        if _is_answer(part, box) and not is_aside(part, start, end, lead):
            boxes.append(box)
    return boxes


def _standing(part: str, own: list[_Box]) -> tuple[int, int] | None:
    """Return the last box; None where that one is taken back or one of several possible answers."""
    if not own:
        return None
    sure = [box for box in own if len(own) == 1 or not (_HYPOTHETICAL.search(box.lead) or is_elsewhere(box.lead))]
    start, end, command, lead = (sure or own)[-1]
    after = part[end + 1 :]
    if len(own) > 1 and _FIRST_STANDS.search(after[:200]):
        return own[0].start, own[0].end
    if len({part[box.start : box.end] for box in own}) > 1 and (
        _UNSAID.match(after)
        or _BOTH.search(part[max(own[0].command - 200, 0) : end + 300])
        or (_SECOND_CASE.search(lead) and not _ONE_CASE.search(after[:200]))
        or all(_CLAIMED.search(box.lead) for box in own)
    ):
        return None
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


def _only_line(part: str) -> tuple[int, int] | None:
    """Return the line of a reply that is nothing else, and neither talk nor cut off."""
    line = _SHORT.match(part)
    if not line or len(line[1].split()) > 8 or _TALK.search(line[1]) or not re.search(r"\w", line[1]):
        return None
    return line.span(1)


def _tagged(part: str) -> tuple[int, int] | None:
    if "</" not in part:  # every tag would look for its end
        return None
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
            return Extraction(value, start, end) if value else Extraction(None)
        start, end = start + lead, end - tail
