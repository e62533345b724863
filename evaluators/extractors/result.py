"""The number that the end of a reply states as its result, where no marker, box or answer phrase names one.

Sentences are read from the last one back. Remarks, checks, offers and what others think are passed over; a question, a plan, an
equation still to be solved or a text that breaks off states nothing. In the sentence that is left, every number gets the weights of
`weights.BEFORE` and `weights.AFTER` for what stands round it; the heaviest is the result, the last of equals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.extractors import mentions
from evaluators.extractors import quantities as words
from evaluators.extractors.numerals import Number, numbers, spelled
from evaluators.extractors.weighing import NOTHING, THUS, WEAK, choose, weigh

_STOP = re.compile(
    r"(?<!\bRs)(?<!\bNo)(?<!\bapprox)(?<!\bca)(?<!\bvs)(?<!\bi\.e)(?<!\be\.g)(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\betc)"
    r"[.!?](?=\s|\Z|[\"')\]])|[。;？！\n]"
)
_LIST_MARK = re.compile(r"^[ \t]*(?:[-•]\s*)?(\d+)[.):](?=\s+\S)", re.MULTILINE)
_FIRST_LINE = re.compile(
    r"\s*([-−]?\d[\d,.]*\d|[-−]?\d)[ \t]*(?:[A-Za-z%]+[ \t]*)?(?:[.]?\s*\n\s*(?i:explanation|reason|because|steps?|solution"
    r"|note|calculation|working)|\([^()\n]*\)\s*\Z)"
)
_ALONE_FIRST = re.compile(r"\s*([-−]?\d[\d,.]*\d|[-−]?\d)[.]?[ \t]*\n[ \t]*\n(?=[^\n]*[a-z])")
_OPENS = re.compile(r"\s*[$€£]?([-−]?\d[\d,.]*\d|[-−]?\d)(?P<unit>[ \t]+[a-z]+(?: [a-z]+)?|[ \t]?%)?[.!][ \t]+(?=[A-Z])")
_GIVEN = re.compile(
    r"(?i:^[^\w\n]*(?:given|known|data|facts?|information|what (?:we know|is known|is given)|inputs?|we (?:have"
    r"|know))\b[^\n:.=]{0,30}:[ \t]*$)"
    r"|^\W*(?:已知|条件|数据|题目)[^\n]{0,10}:[ \t]*$",
    re.MULTILINE,
)
_DATA = re.compile(
    r"(?i:[^\w\n]*(?:the )?(?:given|known|data|facts|givens|information|gegeben|gesucht|données"
    r"|datos)(?: \w+)?\s*:)"
)
_ROW = re.compile(
    r"^[ \t]*(?:(?:[-•|]|\d+[.)][ \t])[^\n]*\d[^\n]*|(?!Step)[A-Z][A-Za-z ]{0,30}:[ \t]*[$€£]?\d[\d.,]*(?: [a-z]+)?[ \t]*)$",
    re.MULTILINE,
)
_SUMMED = re.compile(
    r"(?i:[=≈→✓✔]|\b(?:totals?|sums?|altogether|in all|answer|results?|so|therefore|thus|hence|final\w*|overall|left|remain\w*"
    r"|makes?|gives?|gets?|leav\w+|state)\b)|合计|总|共|结果|答|所以|因此|剩"
)
_CODE = re.compile(r"[ \t]*(?:def |return\b|for \w+ in |print\(|import |while |if .*:$)")
_RESTED = re.compile(r"(?i:\bwould have to\b|\b(?:set up|start|redo|do)\b[^.]*\bagain\b)|^\W*(?i:no|nope)\W*\Z")
_AFTER_ALL = re.compile(
    r"(?i:\b(?:so|therefore|thus|hence|altogether|in total)\b|\b(?:think|guess|estimate|I'd say)\b|=)|因此|所以|故|一共|总共"
)
_GUESS = re.compile(r"(?i:\b(?:I|we)(?:'d| would)? (?:think|guess|believe|say|estimate)\b|\bmy (?:best )?guess\b)")
_LINE = re.compile(r"[^\n]+")
_MODAL = re.compile(r"ould|might|may")
_SO_FIRST = re.compile(r"[^\w\n]*(?i:(?:and |that's )?(?:so|therefore|thus|hence|consequently)\b|因此|所以)")
_COMES_TO = re.compile(r"(?i:[=≈]|\b(?:gives?|giving|makes?|making|equals?|leaves?|leaving|left|remain\w*|costs?|is now)\b)")
_ITSELF = re.compile(r"(?i:\W*(?:that|this|it)(?:'s| is| was| would be)\b)")
_ALONE = re.compile(r"[^\w]*\Z")
_WINDOW = 6000
"""How many characters are read, from the end: a bound for replies that loop."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    mark: str
    aside: bool


def stated_result(part: str, bold: str) -> Number | None:
    """Return the number that the end of a reply states; one in bold in its last paragraph before others.

    Args:
        part: the plain view of the reply.
        bold: the same with all but its bold text as blanks.
    """
    if stated := _FIRST_LINE.match(part):
        return next(iter(numbers(part, stated.start(1), stated.end(1))), None)
    if opening := _opening(part):
        return opening
    cut = max(len(part) - _WINDOW, 0)
    found = _ending(part[cut:].rstrip(), bold[cut:])
    if found:
        return found.moved(cut)
    alone = _ALONE_FIRST.match(part)
    return next(iter(numbers(part, *alone.span(1))), None) if alone and not _gives_up(part) else None


def _opening(part: str) -> Number | None:
    """Return the number that is a reply's first sentence, where the rest explains it and comes to no other one."""
    opened = _OPENS.match(part)
    number = next(iter(numbers(part, *opened.span(1))), None) if opened else None
    if not opened or not number or _gives_up(part) or mentions.RETRACTION.search(part, opened.end()):
        return None
    if len(list(_LIST_MARK.finditer(part))) > 1:
        return None
    end = min(len(part), opened.end() + _WINDOW)
    rest = numbers(part, opened.end(), end)
    thus = max((mark.end() for mark in words.CONCLUDES.finditer(part, opened.end(), end)), default=end)
    if any(other.start >= thus for other in rest) and number.value not in {o.value for o in rest if o.start >= thus}:
        return None
    again = any(o.value == number.value and weigh(part, o, max(o.start - 90, opened.end()), o.end + 40) > 1 for o in rest)
    return number if again or opened["unit"] else None


def _ending(part: str, bold: str) -> Number | None:
    if words.UNFINISHED.search(part[-60:]) or words.LOOP.search(part[-100:]) or _gives_up(part):
        return None
    read = list(_sentences(part))
    body = [s for s in read if not s.aside]
    marks = list(_LIST_MARK.finditer(part))
    listed = {mark.start(1) for mark in marks} if len(marks) > 1 or (marks and marks[0][1] == "1") else set()
    paragraph = part.rfind("\n\n", 0, body[-1].start) + 1 if body else 0
    marked = [n for n in numbers(bold, paragraph, body[-1].end if body else 0) if n.start not in listed]
    marked = [n for n in marked if weigh(part, n, part.rfind("\n", 0, n.start) + 1, n.end + 40) > NOTHING]
    if body and _stops_short(read, body[-1], part[body[-1].start : body[-1].end]):
        return None
    if marked:
        return None if _open(part, marked[-1].start) else marked[-1]
    return _from_sentences(part, body, listed)


def _gives_up(part: str) -> bool:
    lines = (line.span() for line in _LINE.finditer(part))
    found = (r for span in lines if words.MAY_GIVE_UP.search(part, *span) for r in words.GIVES_UP.finditer(part, *span))
    refusals = [r for r in found if "?" not in part[r.end() : r.end() + 60]]
    if not refusals:
        return False
    concluded = _AFTER_ALL.search(part, refusals[-1].end()) or _GUESS.search(part, 0, refusals[-1].start())
    return not (concluded and numbers(part, concluded.start(), len(part)))


def _sentences(part: str) -> Iterator[_Sentence]:
    """Yield the sentences that hold anything; once a check or a remark begins, all is aside until a sentence concludes."""
    start, mode, beside, bracket = 0, False, False, False
    for stop in [*_STOP.finditer(part), None]:
        end = stop.start() if stop else len(part)
        text = part[start:end]
        if text.strip():
            if "\n" in part[max(start - 2, 0) : start]:
                mode = False
            aside = (
                bool(words.ASIDE.search(text))
                or (text.lstrip().startswith("|") and not _SUMMED.search(text))
                or words.OFFER.search(text) is not None
            )
            aside = (aside and not THUS.search(text)) or bool(_MODAL.search(text) and words.OTHERWISE.search(text))
            aside = aside and (bool(re.search(r"\d", part[:start])) or not _ITSELF.match(text))
            mode = bool(words.ASIDE_MODE.search(text)) or (mode and not words.CONCLUDES.search(text))
            if _is_heading(part, start, end):
                beside = bool(words.BESIDE_HEADING.search(text))
            bracket = bracket or (start > 0 and text.lstrip().startswith("("))
            yield _Sentence(start, end, stop[0] if stop else "", aside or mode or beside or bracket)
            bracket = (
                bracket
                and ")" not in part[end : end + 2]
                and text.count(")") < text.count("(") + (not text.lstrip().startswith("("))
            )
        start = stop.end() if stop else end


def _is_heading(part: str, start: int, end: int) -> bool:
    """Return whether [start, end) is a short line of its own, without a full stop and without a number."""
    line = part[start:end]
    return (
        part[start - 1 : start] in ("", "\n")
        and part[end : end + 1] in ("", "\n")
        and len(line.split()) < 7
        and not re.search(r"\d|=", line)
    )


def _from_sentences(part: str, read: list[_Sentence], listed: set[int]) -> Number | None:
    """Return the number of the last sentence that states one; one that only dates or locates counts where no other does."""
    weak: Number | None = None
    last = wordy = True
    for sentence in reversed(read):
        text = part[sentence.start : sentence.end]
        if last and (sentence.mark in ("?", "？") or mentions.WITHDRAWN.search(text) or _RESTED.search(text) or _is_plan(text)):
            return None
        found = [n for n in _numbers(part, sentence, wordy) if n.start not in listed]
        if not found and _stops_short(read, sentence, text):
            return None
        if not found or _CODE.match(text):
            last = last and not found
            continue
        if last and sentence.end == len(part) and words.CUT.search(part[found[-1].end : sentence.end]):
            return None
        last = False
        wordy = wordy and not numbers(part, sentence.start, sentence.end)
        if sentence.mark in ("?", "？") or _open(part, found[-1].start):
            if _in_rows(part, found[-1].start) and any(
                s.mark == "." and s.end < part.rfind("\n\n", 0, found[-1].start) for s in read
            ):
                continue
            return weak
        chosen, weight = choose(part, found, sentence.start, sentence.end)
        if chosen is None and weight <= NOTHING:
            said = [n for n in spelled(part, sentence.start, sentence.end) if _counts(part, n, sentence)]
            chosen, weight = choose(part, said, sentence.start, sentence.end)
        if chosen is None and weight <= NOTHING:
            continue
        if chosen and weight >= WEAK:
            return _concluded(part, read, sentence, weight, listed) or chosen
        weak = weak or chosen
    return weak


def _concluded(part: str, read: list[_Sentence], sentence: _Sentence, weight: int, listed: set[int]) -> Number | None:
    """Return what the sentence before comes to, where it begins as a conclusion and this one only adds a circumstance."""
    place = read.index(sentence)
    text = part[sentence.start : sentence.end]
    if weight > 1 or not place or words.CONCLUDES.search(text) or _COMES_TO.search(text):
        return None
    before = read[place - 1]
    if before.mark != "." or not _SO_FIRST.match(part, before.start) or "\n" in part[before.end : sentence.start + 1]:
        return None
    found = [n for n in numbers(part, before.start, before.end) if n.start not in listed]
    chosen, heavier = choose(part, found, before.start, before.end)
    return chosen if heavier > weight and not _open(part, before.start) else None


def _stops_short(read: list[_Sentence], sentence: _Sentence, text: str) -> bool:
    """Return whether the last sentence has words but neither number nor full stop, where those before it have full stops."""
    return (
        sentence is read[-1]
        and not sentence.mark
        and len(text.split()) > 2
        and any(s.mark == "." for s in read)
        and text[-1].isalpha()
        and not re.search(r"\d", text)
    )


def _numbers(part: str, sentence: _Sentence, wordy: bool) -> list[Number]:
    """Return the numbers of a sentence: in digits, or in words where neither it nor a later one has any."""
    found = numbers(part, sentence.start, sentence.end)
    if found or not wordy:
        return found
    return [n for n in spelled(part, sentence.start, sentence.end) if _counts(part, n, sentence)]


def _counts(part: str, number: Number, sentence: _Sentence) -> bool:
    """Return whether a number in words is a quantity: "one" and 一 only where they stand alone."""
    alone = _ALONE.match(part[number.end : sentence.end]) and _ALONE.match(part[sentence.start : number.start])
    word = part[number.start : number.end].lower()
    if word in ("one", "一", "a half"):
        return bool(alone)
    if word == "half":
        said = re.search(r"(?i:\b(?:is|was|are|be)\s+(?:exactly |just |only )?|[:=]\s*)\Z", part[sentence.start : number.start])
        return bool(_ALONE.match(part[number.end : sentence.end]) and (alone or said))
    if "/" not in number.value and re.match(
        r"\s*(?i:ways?|steps|cases|possibilities|methods?|options|of (?:the|these|them|which)|unknowns|conditions|equations)\b|步"
        r"|次方|种|方面|者|项|般",
        part[number.end : number.end + 14],
    ):
        return False
    if re.match("[一-鿿]", part[number.start]):
        return bool(
            alone
            or re.match(
                r"\s*(?:[个只本元岁天年月日分小秒米厘千公克升度棵人辆件块张条名朵双颗倍角周页支次]|\Z|[。,])",
                part[number.end : number.end + 2],
            )
        )
    return True


def _is_plan(sentence: str) -> bool:
    if words.INTENDS.search(sentence) and not re.search(r"\bso\b|\bthen\b|\bgives\b|\d\s*=\s*-?\d", sentence):
        return True
    return bool(words.PLAN.search(sentence) and not words.STATES.search(sentence))


def _open(part: str, place: int) -> bool:
    """Return whether the sentence round `place` concludes nothing: a plan, data, a row among rows, or one case of several."""
    start = max((stop.end() for stop in _STOP.finditer(part, max(place - 400, 0), place)), default=max(place - 400, 0))
    end = next((stop.start() for stop in _STOP.finditer(part, place)), len(part))
    paragraph = part.rfind("\n\n", 0, place) + 1
    line = part[part.rfind("\n", 0, place) + 1 : end]
    told = bool(_DATA.match(line) and not _SUMMED.search(line))
    heads = [head for head in _GIVEN.finditer(part, paragraph, place)]
    rows = _in_rows(part, place)
    told = told or _is_plan(part[start:end]) or mentions.is_instruction(part, place, place)
    return bool(told or heads or rows or mentions.is_alternative(part, place))


def _in_rows(part: str, place: int) -> bool:
    """Return whether a place stands in one of several rows of a list or table, and in none that sums up."""
    end = next((stop.start() for stop in _STOP.finditer(part, place)), len(part))
    line = part[part.rfind("\n", 0, place) + 1 : end]
    paragraph = part.rfind("\n\n", 0, place) + 1
    return bool(_ROW.match(line)) and len(list(_ROW.finditer(part, paragraph))) > 1 and not _SUMMED.search(line)
