"""The number that a reply ends with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from evaluators.extractors import mentions
from evaluators.extractors.text import braced, hide_reasoning, plain, turns
from leaderflow.core.types import Extraction

_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8"}
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

_INTEGER = r"\d{1,3}(?:,\d{2,3})*,\d{3}(?!\d)|\d{1,3}(?:\{,\}\d{3})+(?!\d)|\d{1,3}(?: {1,2}\d{3})+(?![\d./])|\d+"
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?<!\d:)(?<!\^)(?<!\^\{)(?P<sign>(?<![A-Za-z0-9_)\]}%])(?<!\d )[-+−–]|(?<=[:=] )[-−–] )?[€£¥₹]?(?:"
    r"(?:(?P<mixed>\d+)(?= {0,2}\\?[dt]?frac| {1,2}\d+/\d| ?[½⅓⅔¼¾⅕⅛]) {0,2})?(?:\\[dt]?frac\s*(?:\{\s*(?P<num>-?\d+)\s*\}\s*\{\s*(?P<den>\d+)\s*\}|(?P<n>\d)(?P<d>\d))"
    r"|(?P<over>\d+)\s?/\s?(?P<under>\d+)(?![\d/])|(?P<vulgar>[½⅓⅔¼¾⅕⅛]))"
    r"|10\s*\^\s*\{?\s*(?P<ten>[-−]?\d+)\s*\}?"
    rf"|(?P<whole>{_INTEGER})?(?P<point>\.\d+)?(?<=\d)"
    r"(?:[eE](?P<exp>[-+]?\d+)(?![A-Za-z0-9.])| {0,2}(?:[×x·]|\\times|\\cdot| ) {0,2}10 {0,2}(?:\^\s*\{?\s*(?P<power>[-+−]?\d+)\s*\}?|(?P<super>[⁻⁰¹²³⁴-⁹]+)))?"
    r"(?: {0,2}(?P<scale>thousand|million|billion|trillion|万|亿)\b)?)"
    r"(?!(?:st|nd|rd|th)\b|:\d|\d)"
)
_MARK = re.compile(r"####[\s$€£¥\\]*(?:(?i:answer)\s*:?)?[\s$€£¥\\]*(?=[-+−.\d½⅓⅔¼¾])")
_PHRASE = re.compile(
    r"(?i:(?<![A-Za-z])(?:answer|ans|solution|result)(?:\s+(?:to|for|of|here)\b[^.\n:;]{0,80}?)?\s*[\"']?\s*"
    r"(?:\b(?:is|are|was|would be|will be|must be|should be|equals|comes (?:out )?to|becomes)\b(?:\s+(?:therefore|thus|then|simply))?|[:=]))"
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
    r"|\b(?:not enough|insufficient|lacks?|missing)\s+(?:\w+\s+){0,2}?(?:information|data|details)|(?:don't|do not) know|no idea|\bnot sure\b|\bsorry\b|no (?:numerical )?answer|(?:is|are) missing\b)"
    r"|无法|不能确定|不知道|抱歉|信息不足|条件不足"
)
_COUNTED = re.compile(
    r"(?i:\b(?:steps?|equations?|parts?|cases?|questions?|problems?|examples?|chapter|figure|table|option|method|line|round|day|week|year)\s*#?)\Z"
)
_LIST_MARK = re.compile(r"^[ \t]*(?:[-•]\s*)?(\d+)[.):](?=\s+\S)", re.MULTILINE)
_UNFINISHED = re.compile(r"[=+×÷*/?？]\s*\Z|(?<=\s)[-−]\s*\Z")


_PHRASES = 20
"""How many answer phrases are looked at, from the end."""


def final_number(text: str) -> Extraction:
    """Return the number a reply ends with, as text: ``1,234.50 km`` gives ``1234.50``, ``-\\frac{3}{4}`` gives ``-3/4``.

    Looked for in this order: after ``####``, in the last box, after the last answer phrase, in the last bold text, the last of the reply.
    The last two count only if the reply neither refuses nor breaks off. Units, currency and percent signs are dropped ("45 %" is 45),
    ``1.5 × 10^3`` is ``1.5e3``, "2.5 million" 2500000. What stands in reasoning, or after a question that a base model invents, is not read.
    """
    view = hide_reasoning(text)
    view = plain(re.sub(r"([-−+])(\\?\$)", r"\2\1", view))
    marked = re.sub(r"[^\n]", " ", view) if "**" not in text else _bold(hide_reasoning(text), view)
    for offset, part in turns(view):
        match = _marked(part) or _boxed(part) or _phrased(part) or _last(part, marked[offset : offset + len(part)])
        if match:
            return Extraction(_value(match), offset + match.start(), offset + match.end())
    return Extraction(None)


def _bold(text: str, view: str) -> str:
    """Return the view with all but its bold parts as blanks."""
    kept = [" "] * len(view)
    for bold in re.finditer(r"\*\*([^*\n]+)\*\*", text):
        kept[bold.start(1) : bold.end(1)] = view[bold.start(1) : bold.end(1)]
    return "".join(kept)


def _marked(part: str) -> re.Match[str] | None:
    """Return the number after the first ``####``, or after a later one where the text between takes it back."""
    marks = [(mark, number) for mark in _MARK.finditer(part) if (number := _NUMBER.match(part, mark.end()))]
    found: re.Match[str] | None = None
    for mark, number in marks:
        if found is None or mentions.RETRACTION.search(part, found.end(), mark.start()):
            found = number
    return found


def _boxed(part: str) -> re.Match[str] | None:
    """Return the number in the last closed box, what follows its last equals sign; None where it holds several."""
    for start, end in reversed(list(braced(part))):
        start = max(part.rfind("=", start, end) + 1, start)
        numbers = list(_NUMBER.finditer(part, start, end))
        if len(numbers) == 1:
            return numbers[0]
    return None


def _phrased(part: str) -> re.Match[str] | None:
    for phrase in reversed(list(_PHRASE.finditer(part))[-_PHRASES:]):
        lead = _LEAD.match(part, phrase.end())
        start = lead.end() if lead else phrase.end()
        end = min((m.start() for m in [_SENTENCE_END.search(part, start, start + 400)] if m), default=len(part))
        end = min(end, *(place for place in [part.find("\n", start)] if place >= 0), len(part))
        number = _NUMBER.match(part, start) or _NUMBER.match(part, phrase.end())
        numbers = list(_NUMBER.finditer(part, max(part.rfind("=", start, end), start), end))
        chosen = number if number and "=" not in part[number.end() : end] else (numbers or [None])[-1]
        if chosen and not mentions.is_mention(part, phrase.start(), phrase.end(), chosen.end()):
            return chosen
    return None


def _last(part: str, bold: str) -> re.Match[str] | None:
    """Return the last number of a reply that does not refuse or break off; a bold one in its last paragraph before others."""
    if _REFUSAL.search(part) or _UNFINISHED.search(part.rstrip()):
        return None
    paragraph = part.rstrip().rfind("\n\n") + 1
    return next(iter([*_backwards(bold, paragraph), *_backwards(part, 0)]), None)


def _backwards(part: str, start: int) -> Iterator[re.Match[str]]:
    listed = {mark.start(1) for mark in _LIST_MARK.finditer(part)}
    for number in reversed(list(_NUMBER.finditer(part, start))):
        if number.start() not in listed and not _COUNTED.search(part[max(number.start() - 20, 0) : number.start()]):
            yield number


def _value(match: re.Match[str]) -> str:
    """Return a number as plain text: integer, decimal, ``a/b`` or with an exponent."""
    part = match.groupdict()
    sign = "-" if part["sign"] and part["sign"].strip() in ("-", "−", "–") else ""
    if ratio := part["vulgar"] and _VULGAR[part["vulgar"]]:
        return sign + _mixed(part["mixed"], ratio)
    upper, lower = part["num"] or part["n"] or part["over"], part["den"] or part["d"] or part["under"]
    if upper and lower:
        return (sign + _mixed(part["mixed"], f"{upper}/{lower}")).replace("--", "")
    if part["ten"]:
        return f"{sign}1e{int(part['ten'].replace('−', '-'))}"
    number = re.sub(r"[, {}]", "", part["whole"] or "0") + (part["point"] or "")
    if part["scale"]:
        number = f"{Decimal(number).scaleb(_SCALES[part['scale']]):f}"
    exponent = part["exp"] or (part["power"] or "").replace("−", "-") or (part["super"] or "").translate(_SUPERSCRIPT)
    return f"{sign}{number}e{int(exponent)}" if exponent else sign + number


def _mixed(whole: str | None, ratio: str) -> str:
    return str(Fraction(whole) + Fraction(ratio)) if whole else ratio
