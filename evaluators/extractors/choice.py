"""The option, or options, that a reply states."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from evaluators.extractors import cues, mentions
from evaluators.extractors.text import BOX, hide_reasoning, plain, turns
from leaderflow.core.types import Extraction


def choice_letter(text: str, options: str = "ABCD") -> Extraction:
    """Return the one option that a reply states, as written in `options`, or nothing.

    The statement made last counts ("the answer is …", a box, a tag, "I choose …", 故选…); a bare letter only where the reply or its
    first or last line is nothing else. Letters inside reasoning, mentions, conditions and questions are no statements; neither is
    "A or B". What a base model runs on to invent after its answer is not read.

    Args:
        text: the reply.
        options: the labels, one character each.
    """
    return _extract(text, options, several=False)


def choice_letters(text: str, options: str = "ABCD") -> Extraction:
    """Return all options that a reply states last, joined in the order of `options` ("A, B and C" gives ``ABC``), or nothing.

    Args:
        text: the reply.
        options: the labels, one character each.
    """
    return _extract(text, options, several=True)


@dataclass(frozen=True, slots=True)
class _Found:
    """Labels stated at [start, end); `firm` statements outrank the others unless they are taken back."""

    labels: str
    start: int
    end: int
    firm: bool


_LATEST = 100
"""How many statements of a form are looked at, from the end: a bound for replies that loop."""
_BESIDE = re.compile(rf"\}}\s{{0,5}}(?:,|and|\s){{0,5}}\s{{0,5}}{BOX}")
"""What stands between two boxes side by side: they hold one answer."""


def _extract(text: str, options: str, several: bool) -> Extraction:
    view = plain(hide_reasoning(text))
    if several:
        view = _BESIDE.sub(lambda match: "," + " " * (len(match[0]) - 1), view)
    patterns = _patterns(options)
    for offset, part in turns(view):
        found = _decide(part, list(_statements(part, patterns, several))) or _bare(part, patterns, several)
        if found:
            return Extraction(found.labels, offset + found.start, offset + found.end)
    return Extraction(None)


def _decide(part: str, found: list[_Found]) -> _Found | None:
    """Return the last firm statement, or a later loose one where the text between takes the firm one back."""
    found.sort(key=lambda f: (f.end, -f.start))
    firm = [f for f in found if f.firm]
    if not found:
        return None
    last = (firm or found)[-1]
    retractions = [retraction.start() for retraction in mentions.RETRACTION.finditer(part)]
    for later in found:
        place = bisect_left(retractions, last.end)
        if place < len(retractions) and retractions[place] < later.start:
            last = later
    return None if mentions.WITHDRAWN.search(part, last.end) else last


def _statements(part: str, patterns: _Patterns, several: bool) -> Iterator[_Found]:
    for pattern, firm in patterns.stated:
        for match in list(pattern.finditer(part))[-_LATEST:]:
            found = _found(match, patterns, several, firm)
            if match.start() == match.start("list") and not cues.LED.search(part[max(match.start() - 40, 0) : match.start()]):
                continue
            if found and not mentions.is_mention(part, match.start(), found.start, match.end("list")):
                yield found


def _found(match: re.Match[str], patterns: _Patterns, several: bool, firm: bool) -> _Found | None:
    """Return the labels of a list in option order; None where one was asked for and several came, or the list is open."""
    stated = patterns.words.sub(lambda word: " " * len(word[0]), match["list"])
    letters = [letter for letter in re.finditer(r"[^\W_]", stated) if letter[0].upper() in patterns.canonical]
    distinct = {patterns.canonical[letter[0].upper()] for letter in letters}
    if not letters or (len(distinct) > 1 and (not several or cues.OPEN.search(match["list"]))):
        return None
    labels = "".join(sorted(distinct, key=patterns.options.index))
    return _Found(labels, match.start("list") + letters[0].start(), match.start("list") + letters[-1].end(), firm)


def _bare(part: str, patterns: _Patterns, several: bool) -> _Found | None:
    """Return the letter of a reply that is nothing else, or whose first or last line begins with it or whose last word it is."""
    if whole := patterns.alone.fullmatch(part):
        return _found(whole, patterns, several, firm=True)
    lines = [line for line in re.finditer(r"[^\n]+", part) if line[0].strip() and len(cues.ENUMERATED.findall(line[0])) < 3]
    labelled = {number: match for number, line in enumerate(lines) if (match := patterns.line.match(part, *line.span()))}
    letters = [match["list"].upper() for match in labelled.values()]
    match = patterns.closing.search(part) or patterns.last_word.search(part)
    if match and not _closes(part[max(match.start() - 300, 0) : match.start() + 1], patterns):
        match = None
    if len(set(letters)) == 1:
        match = labelled.get(len(lines) - 1) or labelled.get(0) or match
    elif letters:
        match = labelled.get(len(lines) - 1) if letters.count(letters[-1]) > 1 else None
    return _found(match, patterns, several, firm=False) if match else None


def _closes(before: str, patterns: _Patterns) -> bool:
    """Return whether a letter after `before` ends a thought: a sentence is over, or some words led to it and name no other."""
    sentence = mentions.SENTENCE.split(before.rstrip(".!?。:"))[-1]
    if patterns.label.search(sentence) or cues.ASIDE.search(sentence):
        return False
    led = not mentions.CONDITION.search(sentence) and not mentions.OTHERS.search(sentence) and len(sentence.split()) > 2
    return led or before[-1] in ".!?。:"


@dataclass(frozen=True, slots=True)
class _Patterns:
    options: str
    canonical: dict[str, str]
    stated: list[tuple[re.Pattern[str], bool]]
    label: re.Pattern[str]
    words: re.Pattern[str]
    alone: re.Pattern[str]
    line: re.Pattern[str]
    closing: re.Pattern[str]
    last_word: re.Pattern[str]


@cache
def _patterns(options: str) -> _Patterns:
    """Compile the tables of `cues` for a set of labels."""
    letter = cues.letter(options)
    fill = {"<L>": letter, "<LIST>": cues.listed(letter, options), "<GAP>": cues.GAP}

    def expand(template: str) -> str:
        if template.startswith("<LIST>"):
            template = template.replace("<LIST>", cues.listed(letter, options, lead=False), 1)
        return re.sub(r"<(?:L|LIST|GAP)>", lambda match: fill[match[0]], template)

    return _Patterns(
        options=options,
        canonical={option.upper(): option for option in options},
        stated=[
            (re.compile(expand(p), re.MULTILINE), firm) for firm, table in ((True, cues.FIRM), (False, cues.LOOSE)) for p in table
        ],
        label=re.compile(letter),
        words=re.compile(cues.WORDS),
        alone=re.compile(expand(cues.ALONE)),
        line=re.compile(expand(cues.LINE)),
        closing=re.compile(expand(cues.CLOSING)),
        last_word=re.compile(expand(cues.LAST_WORD)),
    )
