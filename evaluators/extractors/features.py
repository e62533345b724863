"""What a passage shows of each candidate for its answer, and of having no answer at all: the features that `scorer` weighs.

A feature is a name such as ``N1=is`` (the word before is "is"). L and R are the tokens before and after, N and M the same without
brackets and quotes, C stands for a class (`lexicon`) in place of the word, S for the candidate's sentence, P for the one before, X
for the one after it, Y for those further on, Z for the last one of the passage, F for its first. Signs are features that are few
and general; they also count in pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from evaluators.extractors import relations
from evaluators.extractors.lexicon import classes
from evaluators.extractors.passage import CANDIDATE, Passage, Sentence, stem

_CLAUSE_ENDS = frozenset(",，:：、—–(（).")
_WRAPPING = frozenset("()[]{}\"'$:*<>/「」『』【】（）《》") | {"\n", "\n\n"}
_OR = frozenset(("or", "oder", "ou", "o", "或", "或者", "还是", "/"))
_FOLLOWING = frozenset(("wait", "not", "check", "note", "if", "offer"))
_LATER = ("wait", "not", "if", "unknown")


PAIR = "&"
"""What joins the names of two signs."""


class Shown(NamedTuple):
    """What a passage shows of a candidate, each feature once."""

    found: list[str]
    """Features that count alone."""
    around: list[str]
    """Those of its sentence, the same list for all candidates in it."""
    signs: frozenset[str]
    """Features that count alone and in pairs."""


def pairs(signs: frozenset[str]) -> list[str]:
    """Return the features that signs stand for: each of them, and each two of them together."""
    own = sorted(signs)
    return own + [f"{one}{PAIR}{other}" for place, one in enumerate(own) for other in own[place + 1 :]]


def of_candidates(passage: Passage, kind: str) -> list[Shown]:
    """Return what a passage shows of each of its candidates.

    Args:
        passage: with its candidates.
        kind: ``choice`` or ``number``.
    """
    shown: list[Shown] = []
    related = relations.of_candidates(passage, kind)
    later = relations.later_classes(passage)
    for rank, sentence in enumerate(passage.sentences):
        if not sentence.candidates:
            continue
        around, signs = _of_sentence(passage, rank)
        signs += [f"later{c}" for c in _LATER if c in later[rank]]
        for number in sentence.candidates:
            found, own = _of_candidate(passage, sentence, number)
            if kind == "number":
                own += _operation(passage.tokens, passage.places[number], sentence.end)
            found = list(dict.fromkeys(found + related[number].found))
            shown.append(Shown(found, around, frozenset(chain(signs, own, related[number].signs))))
    return shown


def step(number: int) -> int:
    """Return a count in steps: 0, 1, 2, 3 or 4, 5 to 8, more."""
    return number if number < 3 else 3 if number < 5 else 5 if number < 9 else 9


def _class(token: str) -> str:
    """Return the main class of a token; a mark as it is, any other word as ``w``."""
    known = classes(token)
    return known[0] if known else "w" if token[0].isalpha() else token


def _of_candidate(passage: Passage, sentence: Sentence, number: int) -> tuple[list[str], list[str]]:
    """Return the features and signs of what stands next to a candidate, in its clause and in its sentence."""
    tokens, place = passage.tokens, passage.places[number]
    start, end = max(sentence.start, place - 25), min(sentence.end, place + 16)
    before, after = tokens[start:place], tokens[place + 1 : end]
    left, right = tokens[place - 1] if place else "<s>", tokens[place + 1] if place + 1 < len(tokens) else "<e>"
    n1, n2, n3 = _nearest(reversed(before[-9:]), 3, "<s>")
    m1, m2 = _nearest(after[:8], 2, "<e>")
    c1, c2, d1, d2 = _class(n1), _class(n2), _class(m1), _class(m2)
    found = [
        f"L1={left}", f"R1={right}", f"N1={n1}", f"N2={n2}", f"N3={n3}", f"N12={n2} {n1}", f"M1={m1}",
        f"NC1={c1}", f"NC12={c2} {c1}", f"MC1={d1}", f"MC12={d1} {d2}", f"NMC={c1} {d1}",
        f"nb={step(before.count(CANDIDATE))}", f"na={step(after.count(CANDIDATE))}",
    ]  # fmt: skip
    signs: list[str] = []
    _add_words("b", passage, (place - _clause(reversed(before)), place), (start, place), found, signs)
    _add_words("a", passage, (place + 1, place + 1 + _clause(after)), (place + 1, end), found, signs)
    if left in "([":
        signs.append("paren")
    if before.count("(") > before.count(")") or before.count("（") > before.count("）"):
        signs.append("inparen")
    if n1 == CANDIDATE:
        signs.append("cc")
    if CANDIDATE in after[1:] and _either(after):
        signs.append("orR")
    if CANDIDATE in before[:-1] and _either(before[::-1]):
        signs.append("orL")
    position = sentence.candidates.index(number)
    several = len(sentence.candidates) > 1
    signs.append(
        "alone" if not several else "firstin" if not position else "lastin" if number == sentence.candidates[-1] else "midst"
    )
    if place > passage.last_gap:
        signs.append("lastpart")
    return found, signs


def _add_words(
    side: str, passage: Passage, clause: tuple[int, int], sentence: tuple[int, int], found: list[str], signs: list[str]
) -> None:
    """Add the words of a candidate's clause on one side of it, and those of its sentence beyond."""
    stems: set[str] = set(passage.stems[slice(*clause)])
    own: set[str] = set().union(*passage.classes[slice(*clause)])
    found += [f"C{side}={each}" for each in stems]
    found += [f"S{side}={each}" for each in set(passage.stems[slice(*sentence)]) - stems]
    signs += [f"c{side}-{c}" for c in own]
    signs += [f"s{side}-{c}" for c in set().union(*passage.classes[slice(*sentence)]) - own]


def _nearest(tokens: Iterable[str], count: int, edge: str) -> list[str]:
    """Return the nearest tokens that are no wrapping."""
    found: list[str] = []
    for token in tokens:
        if token not in _WRAPPING:
            found.append(token)
            if len(found) == count:
                return found
    return found + [edge] * (count - len(found))


def _clause(tokens: Iterable[str]) -> int:
    """Return how many tokens there are up to the end of a clause."""
    length = 0
    for token in tokens:
        if token in _CLAUSE_ENDS:
            break
        length += 1
    return length


def _either(tokens: list[str]) -> bool:
    """Return whether one of the next five tokens is "or" and another candidate stands near behind it."""
    return any(token in _OR and CANDIDATE in tokens[place + 1 : place + 5] for place, token in enumerate(tokens[:5]))


def _operation(tokens: list[str], place: int, end: int) -> list[str]:
    """Return the signs of a number's place in a calculation."""
    left = tokens[place - 1] if place else "<s>"
    right = tokens[place + 1] if place + 1 < len(tokens) else "<e>"
    signs = []
    if left == "=":
        signs.append("eqL")
        if place > 1 and len(tokens[place - 2]) == 1 and tokens[place - 2].isalpha():
            signs.append("var")
    elif left in relations.OPERATORS:
        signs.append("opL")
    if right == "=":
        signs.append("eqR")
    elif right in relations.OPERATORS:
        signs.append("opR")
    elif right in ("%", "％", "percent"):
        signs.append("percent")
    elif right[0].isalpha() and right.isascii():
        signs.append("unit")
    if relations.concludes(tokens, place, end):
        signs.append("result")
    return signs


def _of_sentence(passage: Passage, rank: int) -> tuple[list[str], list[str]]:
    """Return the features and signs of a sentence: its place, its words, what stands before and after it."""
    tokens, sentences = passage.tokens, passage.sentences
    sentence = sentences[rank]
    first, left = sentence.words[0], len(sentences) - 1 - rank
    mark = "cut" if not left and passage.is_cut else sentence.mark or "none"
    found = [f"S0={first}", f"S0C={_class(first)}", f"first={step(rank)}"]
    found.append(f"len={step(len(sentence.words))}")
    signs = [f"s0{c}" for c in classes(first)]
    signs += (f"rank{step(left)}", f"end{mark}")
    if len(sentence.words) <= 2:
        signs.append("short")
    if not rank:
        signs.append("opens")
    if "=" in tokens[sentence.start : sentence.end]:
        signs.append("eqn")
    if not sentence.start or tokens[sentence.start - 1][0] == "\n":
        closes = sentence.mark[:1] == "\n" or not sentence.mark or tokens[sentence.end : sentence.end + 1] in ([], ["\n"], ["\n\n"])
        signs.append("ownline" if closes else "startsline")
    if rank:
        before = sentences[rank - 1]
        found.append(f"P0={before.words[0]}")
        found += [f"PC={c}" for c in before.classes]
    for place, after in enumerate(sentences[rank + 1 : rank + 4]):
        if not place:
            found += (f"X0={after.words[0]}", f"XE={after.mark}")
            found += [f"XB={each}" for each in set(map(stem, after.words[:10]))]
            found += [f"XC={c}" for c in after.classes]
            signs += [f"x{c}" for c in after.classes & _FOLLOWING]
        else:
            found += [f"YC={c}" for c in after.classes]
    return list(dict.fromkeys(found)), signs


def of_none(passage: Passage) -> Shown:
    """Return what a passage shows that speaks for or against its having no answer."""
    tokens, sentences = passage.tokens, passage.sentences
    found = ["none", f"0ncand={step(len(passage.candidates))}", f"0nsent={step(len(sentences))}"]
    signs = []
    if passage.is_cut:
        signs.append("0cut")
    if len(tokens) > 40 and len(set(tokens)) < len(tokens) / 4:
        signs.append("0loop")
    if len({c.value for c in passage.candidates}) > 1 and all(word == CANDIDATE for s in sentences for word in s.words):
        signs.append("0bare")
    if sentences:
        first, last = sentences[0], sentences[-1]
        found += (f"0Z1={tokens[-1]}", f"0ZC1={_class(tokens[-1])}", f"0ZC12={' '.join(map(_class, tokens[-2:]))}")
        found.append(f"0F0={first.words[0]}")
        found += [f"0ZB={each}" for each in set(passage.stems[max(last.start, last.end - 25) : last.end])]
        found += [f"0FB={each}" for each in set(map(stem, first.words[:12]))]
        for sentence in sentences[-4:-1]:
            found += [f"0YC={c}" for c in sentence.classes]
        signs += [f"0z{c}" for c in last.classes]
        signs += [f"0f{c}" for c in first.classes]
        signs += [f"0any{c}" for c in ("unknown", "if", "refuse") if any(c in s.classes for s in sentences)]
        signs += (f"0zend{last.mark or 'none'}", "0brief" if len(sentences) <= 2 else "0long")
        if sum("if" in s.classes for s in sentences) > 1:
            signs.append("0ifs")
        if last.candidates:
            signs.append("0zc")
        turned = max((rank for rank, s in enumerate(sentences) if "wait" in s.classes), default=None)
        if turned is not None:
            signs.append("0turned" if passage.sentence_of[-1:] >= [turned] else "0left")
    return Shown(list(dict.fromkeys(found)), [], frozenset(signs))
