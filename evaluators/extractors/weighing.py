"""Which of a sentence's numbers is the one that it states: the heaviest by the tables of `weights`, the last of equals."""

from __future__ import annotations

import re

from evaluators.extractors.numerals import Number
from evaluators.extractors.weights import AFTER, BEFORE

WEAK, NOTHING = 0, -3
"""Below the one a number is a circumstance and yields to other sentences; at the other and below it is no result at all."""
_SO = re.compile(
    r"(?i:(?:[,;]|\band)\s*(?:so|thus|hence|therefore|which (?:means|gives|makes|leaves|yields)|giving|making|yielding|leaving"
    r"|meaning|but)\b)|[,，;](?:所以|因此|故|但)|因此|所以"
)
THUS = re.compile(r"(?i:\b(?:so|thus|hence|therefore)\b)|所以|因此")
_YEAR_NUMBER = re.compile(r"(?:19|20)\d\d")
_LEFT_SIDE = re.compile(r"[=≈,;:]|\b(?:so|then|thus|and|is)\b")
_EQUATION = re.compile(r"\d\(?[abknxyz](?![A-Za-z])|(?<![A-Za-z\\{])[a-lo-z]\s*[-+−*/^·]\s*[\w(]|[-+−*/·]\s*[xyz](?![A-Za-z])")
_CURRENCY = re.compile(r"(?<![A-Za-z])(?:USD|EUR|GBP|CHF|CNY|RMB|INR|Rs\.?|RM|US\$|A\$|C\$)\s*\Z")
_RESULT = next(pattern for name, _, pattern in BEFORE if name == "object of a verb of result")
_EXPLAINED = re.compile(r"(?:\s+[a-z]+|\s?[%°])?:\s")
"""What follows a result that the rest of the sentence explains."""
_REASONED = re.compile(r"[^\w\n.]*(?:[a-z]+ ?){0,2},\s*(?:which|as|since|because)\b")
"""What follows a number that opens a sentence of its reasons."""
_YEAR = re.compile(r"(?i:\b(?:in|since|by|until|year|from|of|between|concerns|for)\s+)\Z")
"""What stands before a number of four digits that is a year."""


def choose(part: str, found: list[Number], start: int, end: int) -> tuple[Number | None, int]:
    """Return which of a sentence's numbers it states, and with what weight; None where it states none."""
    weights = [(number, weigh(part, number, start, end)) for number in found]
    turns = [mark.end() for mark in _SO.finditer(part, start, end)]
    for turn in reversed(turns):
        concluded = [(number, weight) for number, weight in weights if number.start >= turn]
        if any(weight >= -1 for _, weight in concluded):
            weights = concluded
            break
    best: Number | None = None
    heaviest = NOTHING
    for number, weight in weights:
        if weight >= heaviest and weight > NOTHING:
            best, heaviest = number, weight
    vague = heaviest < WEAK and len({number.value for number, weight in weights if weight == heaviest}) > 1
    return (None if vague else best), heaviest


def weigh(part: str, number: Number, start: int, end: int) -> int:
    """Return how much speaks for a number being what its sentence states."""
    before = _CURRENCY.sub("", part[max(start, number.start - 90) : number.start])
    after = part[number.end : min(end, number.end + 40)]
    weight = sum(value for _, value, pattern in BEFORE if pattern.search(before))
    weight += sum(value for _, value, pattern in AFTER if pattern.match(after))
    if not before.strip(" (") and _REASONED.match(after):
        weight += 6
    if weight > 0 and _EXPLAINED.match(after) and _RESULT.search(before):
        weight += 4
    if _YEAR_NUMBER.fullmatch(number.value) and _YEAR.search(before):
        weight += 1
    return weight - 9 if _to_be_solved(before) else weight


def _to_be_solved(before: str) -> bool:
    """Return whether a number is the right side of an equation in an unknown, which no word of conclusion states as a result."""
    left = before.rstrip()
    if not left.endswith("=") or "\\lim" in before:
        return False
    if THUS.search(before) and not re.search(r"(?i:\bequations?\b)", before):
        return False
    return bool(_EQUATION.search(_LEFT_SIDE.split(left[:-1])[-1]))
