"""The number that a reply ends with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluators.extractors import mentions
from evaluators.extractors.numerals import NUMBER, plain_form
from evaluators.extractors.text import braced, hide_reasoning, plain, turns
from leaderflow.core.types import Extraction

_MARK = re.compile(r"####[\s$€£¥\\]*(?:(?i:answer)\s*:?)?[\s$€£¥\\]*(?=[-+−.\d½⅓⅔¼¾])")
_PHRASE = re.compile(
    r"(?i:(?<![A-Za-z])(?:answer|ans|solution|result)(?:\s+(?:to|for|of|here)\b[^.\n:;]{0,80}?)?\s*[\"']?\s*"
    r"(?:\b(?:is|are|was|would be|will be|must be|should be|equals|comes (?:out )?to|becomes)\b(?:\s+(?:therefore|thus|then"
    r"|simply))?|[:=]))"
    r"|答案\w{0,3}?(?:是|为|:)|(?:答え|Antwort|Respuesta|Réponse|Ответ|Jibu|คำตอบ|উত্তর|సమాధానం)\s*(?::|は|ist|est|es)"
    r"|(?i:<(?:final_?)?(?:answer|ans|number|result)>)"
)
_OPEN = r"(?:[\s:=(\[{\"'≈~€£¥₹$]|\\(?![dt]?frac))*"
_LEAD = re.compile(
    _OPEN + r"(?:(?i:about|approximately|exactly|just|only|simply|therefore|thus|equal to|is)\s+)?(?:[A-Za-z]\w?\s*=\s*)?" + _OPEN
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|\Z)|。|;|, (?:not|because|since|as|so|which|and not)\b|\bbecause\b|\bsince\b|<|\(")
_REFUSAL = re.compile(
    r"(?i:\b(?:cannot|can't|can not|could not|couldn't|unable to|impossible to|not possible to)\s+(?:be\s+)?(?:\w+\s+){0,2}?"
    r"(?:determine|answer|solve|say|tell|comput|calculat|find|figure|give|provide|help|assist|conclude|know)"
    r"|\b(?:not enough|insufficient|lacks?|missing)\s+(?:\w+\s+){0,2}?(?:information|data|details)|(?:don't|do not) know"
    r"|no idea|\bnot sure\b|\bsorry\b|no (?:numerical )?answer|(?:is|are) missing\b|(?:not|n't) (?:specif|mention|giv|stat"
    r"|provid)\w*)"
    r"|无法|不能确定|不知道|抱歉|信息不足|条件不足"
)
_COUNTED = re.compile(
    r"(?i:\b(?:steps?|equations?|parts?|cases?|questions?|problems?|examples?|chapter|figure|table|option|method|line|round|day"
    r"|week|year)\s*#?)\Z"
)
_LIST_MARK = re.compile(r"^[ \t]*(?:[-•]\s*)?(\d+)[.):](?=\s+\S)", re.MULTILINE)
_FIRST_LINE = re.compile(
    r"\s*([-−]?\d[\d,.]*\d|[-−]?\d)[ \t]*(?:[A-Za-z%]+[ \t]*)?(?:[.]?\s*\n\s*(?i:explanation|reason|because|steps?|solution"
    r"|note|calculation|working)"
    r"|\([^()\n]*\)\s*\Z)"
)
_CHATTER = re.compile(r"(?i:\b(?:let me know|(?:I )?hope this|feel free|if you (?:have|need|want|would|'d))\b)")
_UNFINISHED = re.compile(
    r"[=+×÷*/?？]\s*\Z|(?<=\s)[-−]\s*\Z"
    r"|(?i:\b(?:by|of|the|to|and|is|are|an?|with|from|so|we|has|have|then|for|times|plus|minus|that|which|in|but|if)\s*\Z)"
)
_PLAN = re.compile(
    r"(?i:^\W*(?:(?:so|now|next|first|okay|ok|alright|then)\b[\s,]*)*(?:(?:we|I)\s+(?:need|want)\s+to|let's|let us|let me"
    r"|to (?:solve|find|answer|determine|compute|calculate)|the (?:question|problem) (?:asks|is|states|says|gives)"
    r"|we are (?:given|told|asked)|suppose|assume)\b)"
)
_RESULT = re.compile(r"(?i:=|\b(?:get|gives?|got|makes?|equals?|leaves?|total|result|answer)\b)")
_OR_AFTER = re.compile(r"[^\d.\n;]{0,20}\bor\b\W{0,3}\d")
_OR_BEFORE = re.compile(r"(?:\d\s*\w*\s+or|(?i:\bbetween)\b[^.\n]{0,30}\band)\W{0,3}\Z")
_PHRASES = 20
"""How many answer phrases are looked at, from the end."""


def final_number(text: str) -> Extraction:
    r"""Return the number a reply ends with, as text: ``1,234.50 km`` gives ``1234.50``, ``-\frac{3}{4}`` gives ``-3/4``.

    Looked for in this order: after ``####``, in the last box, after the last answer phrase, in the last bold text, the last of the
    reply. The last two count only if the reply neither refuses nor breaks off. Units, currency and percent signs go ("45 %"
    is 45), ``1.5 × 10^3`` is ``1.5e3``, "2.5 million" 2500000. What stands in reasoning, or after a question that a base model
    invents, is not read.
    """
    view = hide_reasoning(text)
    view = plain(re.sub(r"([-−+])(\\?\$)", r"\2\1", view))
    marked = re.sub(r"[^\n]", " ", view) if "**" not in text else _bold(hide_reasoning(text), view)
    for offset, part in turns(view):
        match = _marked(part) or _boxed(part) or _phrased(part) or _last(part, marked[offset : offset + len(part)])
        if match and not _undecided(part, match):
            return Extraction(plain_form(match), offset + match.start(), offset + match.end())
    return Extraction(None)


def _bold(text: str, view: str) -> str:
    """Return the view with all but its bold parts as blanks."""
    kept = [" "] * len(view)
    for bold in re.finditer(r"\*\*([^*\n]+)\*\*", text):
        kept[bold.start(1) : bold.end(1)] = view[bold.start(1) : bold.end(1)]
    return "".join(kept)


def _marked(part: str) -> re.Match[str] | None:
    """Return the number after the first ``####``, or after a later one where the text between takes it back."""
    marks = [(mark, number) for mark in _MARK.finditer(part) if (number := NUMBER.match(part, mark.end()))]
    found: re.Match[str] | None = None
    for mark, number in marks:
        if found is None or mentions.RETRACTION.search(part, found.end(), mark.start()):
            found = number
    return found


def _boxed(part: str) -> re.Match[str] | None:
    """Return the number in the last closed box, what follows its last equals sign; None where it holds several."""
    for start, end in reversed(list(braced(part))):
        start = max(part.rfind("=", start, end) + 1, start)
        numbers = list(NUMBER.finditer(part, start, end))
        if len(numbers) == 1:
            return numbers[0]
    return None


def _phrased(part: str) -> re.Match[str] | None:
    for phrase in reversed(list(_PHRASE.finditer(part))[-_PHRASES:]):
        lead = _LEAD.match(part, phrase.end())
        start = lead.end() if lead else phrase.end()
        end = min((m.start() for m in [_SENTENCE_END.search(part, start, start + 400)] if m), default=len(part))
        end = min(end, *(place for place in [part.find("\n", start)] if place >= 0), len(part))
        number = NUMBER.match(part, start) or NUMBER.match(part, phrase.end())
        numbers = list(NUMBER.finditer(part, max(part.rfind("=", start, end), start), end))
        chosen = number if number and "=" not in part[number.end() : end] else (numbers[-1] if numbers else None)
        if chosen and not mentions.is_mention(part, phrase.start(), phrase.end(), chosen.end()):
            return chosen
    return None


def _last(part: str, bold: str) -> re.Match[str] | None:
    """Return the last number of a reply that does not refuse or break off; a bold one in its last paragraph before others."""
    if stated := _FIRST_LINE.match(part):
        return NUMBER.match(part, stated.start(1))
    if chatter := _CHATTER.search(part):
        part, bold = part[: chatter.start()], bold[: chatter.start()]
    if _REFUSAL.search(part) or _UNFINISHED.search(part.rstrip()):
        return None
    paragraph = part.rstrip().rfind("\n\n") + 1
    number = next(iter([*_backwards(bold, paragraph), *_backwards(part, 0)]), None)
    sentence = re.split(r"[.!?\n](?!\d)", part[: number.start()])[-1] if number else ""
    return None if _PLAN.search(sentence) and not _RESULT.search(sentence) else number


def _undecided(part: str, match: re.Match[str]) -> bool:
    """Return whether another number is offered beside this one: "5 or 6", "between 5 and 6"."""
    return bool(_OR_AFTER.match(part, match.end()) or _OR_BEFORE.search(part[max(match.start() - 50, 0) : match.start()]))


def _backwards(part: str, start: int) -> Iterator[re.Match[str]]:
    listed = {mark.start(1) for mark in _LIST_MARK.finditer(part)}
    for number in reversed(list(NUMBER.finditer(part, start))):
        if number.start() not in listed and not _COUNTED.search(part[max(number.start() - 20, 0) : number.start()]):
            yield number
