"""How the candidates of a passage stand to each other: repeated, computed before, followed by others, items of one list."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from evaluators.extractors.passage import Passage

_ITEM_MARKS = frozenset('-•*([{"✅❌✓✗>#☐☑')
_EQUAL = frozenset("=≈→")
OPERATORS = frozenset("+-*/×÷^·−")


class Related(NamedTuple):
    """Features and signs of one candidate (`features.Shown`)."""

    found: list[str]
    signs: list[str]


def concludes(tokens: list[str], place: int, end: int) -> bool:
    """Return whether a token is what an equation comes to: an equals sign before it, no operator after it, none further on."""
    if not place or tokens[place - 1] not in _EQUAL:
        return False
    after = tokens[place + 1 : min(place + 4, end)]
    return not (after and after[0] in OPERATORS) and "=" not in after


def later_classes(passage: Passage) -> list[set[str]]:
    """Return, for each sentence, the classes of all words after it."""
    found: list[set[str]] = []
    later: set[str] = set()
    for sentence in reversed(passage.sentences):
        found.append(later)
        later = later | sentence.classes
    return found[::-1]


def of_candidates(passage: Passage, kind: str) -> list[Related]:
    """Return how each candidate stands to the others.

    Args:
        passage: with its candidates.
        kind: ``choice`` or ``number``.
    """
    candidates, tokens, places = passage.candidates, passage.tokens, passage.places
    lines = [_opens_line(tokens, place) for place in places]
    same: dict[str | None, list[int]] = {}
    for number, candidate in enumerate(candidates):
        same.setdefault(candidate.value, []).append(number)
    items = _items(passage, lines) if kind == "choice" else {}
    twins = _twins(passage) if kind == "number" else {}
    related = []
    rest: set[str | None] = set()
    for number in range(len(candidates) - 1, -1, -1):
        candidate = candidates[number]
        others = len(rest) - (candidate.value in rest)
        found = [f"others={min(others, 4)}", f"cend={min(len(candidates) - 1 - number, 9)}", f"cfirst={min(number, 9)}"]
        found += [mark for mark in candidate.written if "=" in mark]
        signs = [mark.partition("=")[0] for mark in candidate.written]
        if not others:
            signs.append("noother")
        if not number:
            signs.append("cfirst")
        if number == len(candidates) - 1:
            signs.append("clast")
        if lines[number]:
            signs.append("line")
        if candidate.value is not None:
            _elsewhere(passage, number, same[candidate.value], found, signs)
        if kind == "choice":
            signs += items.get(candidate.value, ()) if lines[number] else ("beside",) if items else ()
            signs += ("multi",) if len(candidate.value or "  ") > 1 else ("A",) if candidate.value in ("A", "I") else ()
        else:
            signs += twins.get(number, ())
            signs += _as_number(passage, number, lines[number])
        related.append(Related(found, signs))
        rest.add(candidate.value)
    return related[::-1]


def _opens_line(tokens: list[str], place: int) -> bool:
    place -= 1
    while place >= 0 and tokens[place] in _ITEM_MARKS:
        place -= 1
    return place < 0 or tokens[place][0] == "\n"


def _elsewhere(passage: Passage, number: int, same: list[int], found: list[str], signs: list[str]) -> None:
    """Add what the same candidate's other places show."""
    for other in same:
        if other == number:
            continue
        name = "again" if other > number else "before"
        place, sentence = passage.places[other], passage.sentences[passage.sentence_of[other]]
        signs.append(name)
        if other < number and concludes(passage.tokens, place, sentence.end):
            signs.append("computed")
        if any("not" in known or "bad" in known for known in passage.classes[place + 1 : place + 5]):
            signs.append(f"{name}denied")
        found += [f"{name}-{c}" for c in sentence.classes]


def _as_number(passage: Passage, number: int, opens_line: bool) -> list[str]:
    candidate, place = passage.candidates[number], passage.places[number]
    signs = []
    if not any(mark.isdigit() for mark in passage.text[candidate.start : candidate.end]):
        signs.append("spelled")
    if len(passage.candidates) == 1:
        signs.append("only")
    if opens_line and passage.tokens[place + 1 : place + 2] in ([")"], ["."]):
        signs.append("item")
    return signs


def _items(passage: Passage, lines: list[bool]) -> dict[str | None, tuple[str, ...]]:
    """Return the signs of each option of a list of options, one a line: what its line says of it, and the others' of them."""
    numbers = [number for number, opens in enumerate(lines) if opens]
    values = {passage.candidates[number].value for number in numbers}
    if len(values) < 2:
        return {}
    said: dict[str | None, set[str]] = {value: set() for value in values}
    ends = [*(passage.places[number] for number in numbers[1:]), len(passage.tokens)]
    for number, end in zip(numbers, ends, strict=True):
        start = passage.places[number] + 1
        stop = next((place for place in range(start, end) if passage.tokens[place][0] == "\n"), end)
        words: set[str] = set().union(*passage.classes[start:stop])
        verdict = "bad" if words & {"bad", "not"} else "good" if words & {"good", "right"} else "open"
        said[passage.candidates[number].value].add(verdict)
    found: dict[str | None, tuple[str, ...]] = {}
    for value, own in said.items():
        rest = [verdict for other, verdicts in said.items() if other != value for verdict in verdicts]
        signs = ["list", *(f"item{verdict}" for verdict in own)]
        if "good" in own and "good" not in rest:
            signs.append("onlygood")
        if "bad" not in own and len(rest) > 1 and set(rest) == {"bad"}:
            signs.append("onlynotbad")
        found[value] = tuple(signs)
    return found


def _twins(passage: Passage) -> dict[int, tuple[str, ...]]:
    """Return the signs of a share and its percentage that stand side by side: 3/4, 75 %."""
    if "%" not in passage.text and "percent" not in passage.text:
        return {}
    shares = [_share(candidate.value) for candidate in passage.candidates]
    found: dict[int, tuple[str, ...]] = {}
    for number, (one, other) in enumerate(pairwise(shares)):
        if one and other and (one * 100 == other or other * 100 == one):
            found[number] = (*found.get(number, ()), "twinafter")
            found[number + 1] = ("twinbefore",)
    return found


def _share(value: str | None) -> Fraction | None:
    if value is None or len(value.partition("e")[2]) > 4:  # 1e9999999 would take minutes and gigabytes
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        return None
