"""The number that a reply states as its result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from evaluators.extractors import scorer
from evaluators.extractors.lexicon import classes
from evaluators.extractors.numerals import Number, decimal_commas, may_spell, numbers, spelled
from evaluators.extractors.passage import Candidate, Passage, few, written
from evaluators.extractors.text import MAY_REASON, boxes, hide_reasoning, plain, run_on, turns
from leaderflow.core.types import Extraction


def final_number(text: str) -> Extraction:
    r"""Return the number a reply states as its result, as text: ``1,234.50 km`` gives ``1234.50``, ``-\frac{3}{4}`` gives ``-3/4``.

    A last line that can only state it says it (`_said_last`). Else every number that is no operand is a candidate; `scorer` weighs
    what stands round each, and whether the reply states none at all. Units, currency and percent signs go ("45 %" is 45),
    ``1.5 × 10^3`` is ``1.5e3``, "2.5 million" 2500000. Numbers in reasoning, in programs, and in questions that a base model
    invents after its answer, are not read.
    """
    if said := _said_last(text):
        return said
    for offset, passage, found in _turns(text):
        if (best := scorer.decide(passage, "number")) is not None:
            number = found[best]
            return Extraction(number.value, offset + number.start, offset + number.end)
    return Extraction(None)


_SAID = re.compile(
    r"(?:####[ \t]*|\$?\\boxed\{|答案(?:是|为|[:：]) ?"
    r"|(?i:(?:(?:so|thus|hence|therefore),? )?(?:the |my )?(?:final |correct )?answer(?: is|:) ?))"
    r"\$?(-?[0-9]+(?:\.[0-9]+)?)(?:\}\$?)?[.。]?\s*\Z"
)
"""A marker that states the answer, and a plain number."""
_MARKER = re.compile(r"####|boxed|(?i:answer)|答案")
_RESTATED = re.compile(r"[^\d\n?=/+×÷^]*?([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)[^\d\n?=/+×÷^]*\Z")
"""A line with one number."""
_COMES_TO = re.compile(r"= ?\$?([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)[.]?\s*\Z")
_WORD = re.compile(r"[a-z]+")
_OPENING = ["so"], ["therefore"], ["thus"], ["hence"], ["altogether"]
_PRONOUNS = frozenset(("he", "she", "they", "people"))
_TURNING = frozenset(("wait", "not", "bad", "if", "but", "hedge", "would", "others", "than", "which", "form", "will"))
"""Classes of words that make more of a line than a result restated."""


def _said_last(text: str) -> Extraction | None:
    """Return the number of a reply whose last line can only state it; None where every number has to be weighed.

    Such a line is a marker and a number, where the reply holds no other marker; or it draws a conclusion, with one number, to which
    the calculation just before has come.
    """
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    if end - start > 120 or not MAY_REASON.isdisjoint(text) or _MARKER.search(text, 0, start) or run_on(text):
        return None
    if said := _SAID.match(text, start):
        return Extraction(said[1], *said.span(1))
    result = _COMES_TO.search(text, max(start - 30, 0), start)
    said = _RESTATED.match(text, start, end) if result else None
    if not said or not result or said[1].replace(",", "") != result[1].replace(",", ""):
        return None
    words = _WORD.findall(text[start:end].lower())
    if words[:1] not in _OPENING or any(not _TURNING.isdisjoint(classes(word)) for word in words if word not in _PRONOUNS):
        return None
    return Extraction(said[1].replace(",", ""), *said.span(1))


def passages(text: str) -> Iterator[tuple[int, Passage]]:
    """Yield (offset, passage) for each turn of a reply, its numbers as candidates; their values are those of `Fraction`."""
    for offset, passage, _ in _turns(text):
        yield offset, passage


_SIGN_BEFORE_DOLLAR = re.compile(r"([-−+])(\\?\$)")


def _turns(text: str) -> Iterator[tuple[int, Passage, list[Number]]]:
    raw = hide_reasoning(text)
    view = decimal_commas(plain(_SIGN_BEFORE_DOLLAR.sub(r"\2\1", _without_programs(raw))))
    for offset, part in turns(view):
        found = _numbers(part)
        held = boxes(part)
        shown = raw[offset : offset + len(part)]
        candidates = [Candidate(canonical(n.value), n.start, n.end, written(shown, n.start, n.end, held)) for n in found]
        yield offset, Passage(part, candidates), found


_OPERATOR_BEFORE = re.compile(r"[+*/×÷^·](?:\s|[$€£(])*\Z|\s[-−–]\s*\Z")
_OPERATOR_AFTER = re.compile(r"\s*(?:[+*×÷·]|\^(?![\s{]*\\?circ)|/\s*[\d(]|[-−–]\s+[\d(]|=)")


def _numbers(part: str) -> list[Number]:
    """Return the numbers of a part in order, in digits and in words, but for those that are only operands of a calculation."""
    found = few([number for number in numbers(part, 0, len(part)) if not _is_operand(part, number)])
    if may_spell(part):
        words = few(spelled(part, 0, len(part)))
        found += [word for word in words if not any(n.start < word.end and word.start < n.end for n in found)]
        found.sort(key=lambda number: number.start)
        found = [number for place, number in enumerate(found) if not place or number.start >= found[place - 1].end]
    return found


def _is_operand(part: str, number: Number) -> bool:
    """Return whether a number has an operator on one side, or an equals sign after it."""
    before = part[max(number.start - 4, 0) : number.start]
    return bool(_OPERATOR_AFTER.match(part, number.end) or _OPERATOR_BEFORE.search(before))


def canonical(value: str) -> str:
    """Return a number as a fraction in lowest terms, so that 0.5 and 1/2 are the same; as it is where that is too large."""
    if value.isdigit():
        return value.lstrip("0") or "0"
    digits, _, exponent = value.partition("e")
    if len(digits) > 40 or len(exponent) > 4:
        return value
    try:
        return str(Fraction(value))
    except (ValueError, ZeroDivisionError):
        return value


_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(?P<code>.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_PROGRAM = re.compile(r"^[ \t]*(?:def |import |from |for |while |print|return|#include|\w+ = )", re.MULTILINE)


def _without_programs(view: str) -> str:
    """Return the view with fenced programs as blanks; fenced results and JSON stay."""
    if "```" not in view:
        return view
    return _FENCED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if _PROGRAM.search(m["code"]) else m[0], view)
