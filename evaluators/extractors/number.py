"""The number that a reply ends with."""

from __future__ import annotations

import re
from fractions import Fraction

from evaluators.extractors import mentions
from evaluators.extractors.numerals import NUMBER, Number, decimal_commas, numbers, plain_form, spelled
from evaluators.extractors.result import stated_result
from evaluators.extractors.text import braced, hide_reasoning, plain, turns
from evaluators.extractors.weighing import choose
from leaderflow.core.types import Extraction

_MARK = re.compile(r"####(?!\s*\d+[.)]\s+\S)[\s$€£¥\\]*(?:(?i:answer)\s*:?)?[\s$€£¥\\]*(?=[-+−.\d½⅓⅔¼¾])")
_PHRASE = re.compile(
    r"(?i:(?<![A-Za-z])(?:answer|ans\.?|(?:final|overall) (?:result|value|total)|^[^\w\n]*(?:result"
    r"|solution)(?=[ \t]*[:=][ \t]*\S))"
    r"(?:\s+(?:to|for|of|here)\b[^.\n:;]{0,80}?)?\s*[\"']?\s*"
    r"(?:\b(?:is|are|was|would be|will be|must be|should be|has to be|equals|comes (?:out )?to|becomes|remains)\b"
    r"(?:\s+(?:therefore|thus|then|simply))?|[:=])|\bfinal answer(?=\s+[-−$]?\d))"
    r"|(?:答案|最终结果|^答)\w{0,3}?(?:是|为|\"?\s*:)|(?:答え|Antwort|Respuesta|Réponse"
    r"|Risposta|Resposta|Ответ|Jibu|คำตอบ|উত্তর|సమాధానం"
    r"|정답)\s*(?::|は|은|ist|est|es)"
    r"|(?i:<(?:final_?)?(?:answer|ans|number|result|final)>)",
    re.MULTILINE,
)
_OPEN = r"(?:[\s:=(\[{\"'≈~€£¥₹$]|\\(?![dt]?frac))*"
_LEAD = re.compile(
    _OPEN + r"(?:(?i:about|approximately|exactly|just|only|simply|therefore|thus|equal to|is)\s+)?(?:[A-Za-z]\w?\s*=\s*)?" + _OPEN
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|\Z)|[。;<\n]|, (?:because|since|as|so|which)\b|\bbecause\b|\bsince\b")
_OR_AFTER = re.compile(
    r"[^\d.\n;=]{0,20}(?:\b(?:or|ou|oder)\b|或者?|还是)(?:(?i: else| maybe| possibly"
    r"| perhaps))?\W{0,3}(?:[a-z]\s?=\s?)?(?=[-−]?\d)"
)
_OR_BEFORE = re.compile(
    r"(?:(?<![-−+*/^×·]\s)(?<!\d[-−+*/^×·])(?<!\d)\d\s*\w*\s*(?:,?\s+(?:or|ou|oder)|,?或者?|,?还是)(?:(?i: else| maybe| possibly"
    r"| perhaps))?\W{0,3}(?:[a-z]\s?=\s?)?"
    r"|(?i:\beither)\b[^.;\n]{0,60}\d[^.;\n]{0,40}\bor\b[^.;\d\n]{0,30}"
    r"|(?i:\b(?:between|both))\b[^.\n]{0,30}\band)\W{0,3}\Z|±\s*\Z"
)
_HEDGED = re.compile(r"(?i:\bdepend|\b(?:might|could|may) be\b)|可能|取决于")
_UNKNOWNS = re.compile(
    r"(?<!when )(?<!for )(?<!with )(?<!at )(?<!if )(?<![a-z\d])([a-z])\s*=\s*[-−]?[\d.]+[°%]?\s*(?:,|,?\s*and|und|et"
    r"|y)\s*(?!\1)[a-z]\s*=\s*[-−]?[\d.]+[°%]?(?=\s*(?:[.]\s|[.]?\Z))"
)
"""Two unknowns, neither asked for."""
_PAIR = re.compile(
    r"(?i:\b(?:numbers|values|solutions|roots|answers|possibilities|options) (?:are|would be)\s+[-−]?[\d.]+\s+and\s+[-−]?\d)"
)
_NO_VALUE = re.compile(r"\"(?:final_)?answer\"\s*:\s*(?:null|\"(?:N/?A|unknown|none)?\")|####\s*\Z", re.IGNORECASE)
_PHRASES = 20
"""How many answer phrases are looked at, from the end."""
_REVISIONS = 20
"""How often a reply may take its number back before the last one is taken as it stands."""


def final_number(text: str) -> Extraction:
    r"""Return the number a reply ends with, as text: ``1,234.50 km`` gives ``1234.50``, ``-\frac{3}{4}`` gives ``-3/4``.

    Looked for in this order: after ``####``, in the last box, after the last answer phrase, in the sentence that ends the reply
    with a result (`result.stated_result`). One that is taken back gives way to what follows it, or to nothing. Units, currency and
    percent signs go ("45 %" is 45), ``1.5 × 10^3`` is ``1.5e3``, "2.5 million" 2500000. What stands in reasoning, or after a
    question that a base model invents, is not read.
    """
    view = hide_reasoning(text)
    if _NO_VALUE.search(view[-4000:]):
        return Extraction(None)
    view = decimal_commas(plain(re.sub(r"([-−+])(\\?\$)", r"\2\1", _without_programs(view))))
    bold = re.sub(r"[^\n]", " ", view) if "**" not in text else _bold(hide_reasoning(text), view)
    for offset, part in turns(view):
        match = _number(part, bold[offset : offset + len(part)])
        if match and not _undecided(part, match):
            return Extraction(match.value, offset + match.start, offset + match.end)
    return Extraction(None)


def _number(part: str, bold: str) -> Number | None:
    """Return the last number stated; one that the text takes back gives way to what follows, or to nothing."""
    start, number = 0, None
    for _ in range(_REVISIONS):
        rest, rest_bold = part[start:], bold[start:]
        verdict = _marked(rest) or _boxed(rest) or _asked(rest) or _phrased(rest)
        number = verdict or stated_result(rest, rest_bold)
        after = mentions.withdrawn(rest, number.end) if number else None
        if after is None and verdict and (doubt := mentions.RETRACTION.search(rest, verdict.end)):
            number = _revised(rest, rest_bold, verdict, doubt.end())
        if after is None or number is None:
            break
        start += after
    return number.moved(start) if number else None


def _revised(part: str, bold: str, verdict: Number, doubt: int) -> Number | None:
    """Return what second thoughts after a verdict come to: another number, none where they deny it, else the verdict."""
    rest = part[doubt:]
    if mentions.denied(part, verdict.start, verdict.end):
        return None
    later = _phrased(rest) or stated_result(rest, bold[doubt:])
    return later.moved(doubt) if later else verdict


_ASKS = re.compile(
    r"(?i:\b(?:question|problem|task|exercise)\s+(?:\w+\s+)?(?:asks?|wants|was about|is about|asked)\b[^.\n?]*|\b(?:we|were"
    r"|was|are) (?:\w+ )?asked\b[^.\n?]*|\bwhat we(?: a|')re (?:after|looking for)[^.\n?]*)|题目(?:只)?(?:问|要求)[^。\n?]*"
)


def _asked(part: str) -> Number | None:
    """Return the number of the last sentence that recalls what was asked for, if it comes after every answer phrase."""
    recalls = list(_ASKS.finditer(part))
    if not recalls or ((phrases := list(_PHRASE.finditer(part))) and phrases[-1].start() > recalls[-1].start()):
        return None
    start = max(part.rfind(stop, 0, recalls[-1].start()) for stop in (". ", "\n", "。", "! ")) + 1
    found = numbers(part, recalls[-1].start(), recalls[-1].end())
    if not found or not numbers(part, 0, recalls[-1].start()):
        return None
    return choose(part, found, start, recalls[-1].end())[0]


def _bold(text: str, view: str) -> str:
    """Return the view with all but its bold parts as blanks."""
    kept = [" "] * len(view)
    for bold in re.finditer(r"\*\*([^*\n]+)\*\*", text):
        kept[bold.start(1) : bold.end(1)] = view[bold.start(1) : bold.end(1)]
    return "".join(kept)


_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(?P<code>.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_PROGRAM = re.compile(r"^[ \t]*(?:def |import |from |for |while |print|return|#include|\w+ = )", re.MULTILINE)


def _without_programs(view: str) -> str:
    """Return the view with fenced programs as blanks; fenced results and JSON stay."""
    if "```" not in view:
        return view
    return _FENCED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if _PROGRAM.search(m["code"]) else m[0], view)


def _marked(part: str) -> Number | None:
    """Return the number after the first ``####``, or after a later one where the text between takes it back."""
    found: Number | None = None
    read = 0
    for mark in _MARK.finditer(part):
        number = _at(part, mark.end())
        if not number or mentions.is_instruction(part, mark.start(), number.end):
            continue
        if found is None or mentions.RETRACTION.search(part, read, mark.start()):
            found = number
        read = number.end
    return found


def _at(part: str, place: int) -> Number | None:
    """Return the number that begins at `place`, in digits or in words."""
    if match := NUMBER.match(part, place):
        return Number(plain_form(match), *match.span())
    word = next((word for word in spelled(part, place, min(place + 60, len(part))) if word.start == place), None)
    return word if word and (word.value != "1" or not re.match(r"\s*\w", part[word.end :])) else None


def _boxed(part: str) -> Number | None:
    """Return the number in the last closed box, what follows its last equals sign; None where it holds several."""
    for opened, end in reversed(list(braced(part))):
        start = max(part.rfind("=", opened, end) + 1, opened)
        found = numbers(part, start, end)
        if len(found) == 1 and not mentions.is_instruction(part, opened, end) and not mentions.is_alternative(part, opened):
            return found[0]
    return None


def _phrased(part: str) -> Number | None:
    for phrase in reversed(list(_PHRASE.finditer(part))[-_PHRASES:]):
        chosen = _after(part, phrase)
        if chosen and _HEDGED.search(part, phrase.start(), chosen.start):
            continue
        if not chosen or mentions.is_instruction(part, phrase.start(), chosen.end) or mentions.is_alternative(part, phrase.start()):
            continue
        if not mentions.is_mention(part, phrase.start(), phrase.end(), chosen.end):
            return chosen
    return None


def _after(part: str, phrase: re.Match[str]) -> Number | None:
    """Return the number that an answer phrase names: the next, or the one that its sentence comes to."""
    lead = _LEAD.match(part, phrase.end())
    start = lead.end() if lead else phrase.end()
    end = min(m.start() if (m := _SENTENCE_END.search(part, start)) else len(part), start + 400)
    number = _at(part, start) or _at(part, phrase.end())
    if number and not re.search(r"=|[a-z)]\s*[-+*/^]\s*\d", part[number.end : end]):
        return number
    found = numbers(part, start, end)
    return choose(part, found, start, end)[0] if found else None


def _undecided(part: str, match: Number) -> bool:
    """Return whether another number is offered beside this one: "5 or 6", "between 5 and 6"; not the same one in another form."""
    if _UNKNOWNS.search(part, max(match.start - 40, 0), match.end + 40):
        return True
    if _PAIR.search(part, max(match.start - 60, 0), match.end + 20):
        return True
    after = _OR_AFTER.match(part, match.end)
    before = _OR_BEFORE.search(part, max(match.start - 50, 0), match.start)
    others = [_at(part, after.end())] if after else []
    others += numbers(part, before.start(), match.start)[:1] if before else []
    return bool(after or before) and not any(other and _same(other.value, match.value) for other in others)


def _same(one: str, other: str) -> bool:
    """Return whether two numbers are one result in two forms: equal, or a share and its percentage."""
    try:
        first, second = Fraction(one), Fraction(other)
    except (ValueError, ZeroDivisionError):
        return one == other
    return first == second or first * 100 == second or first == second * 100
