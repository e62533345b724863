"""The option, or options, that a reply states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from evaluators.extractors import cues, mentions
from evaluators.extractors import readings as words
from evaluators.extractors.claims import Claim, Weight, claims, listed_labels, new_thought, open_cases
from evaluators.extractors.clauses import Status
from evaluators.extractors.labels import OPEN_AFTER, sentences
from evaluators.extractors.text import BOX, hide_reasoning, plain, turns
from leaderflow.core.types import Extraction


def choice_letter(text: str, options: str = "ABCD") -> Extraction:
    """Return the one option that a reply states, as written in `options`, or nothing.

    Every label that the reply names is read with its clause: what is rejected, supposed, asked, reported or merely described is no
    claim; what a clause favours or points to is one. The strongest kind of claim counts (`claims.Weight`), the last one of several,
    unless the text between takes it back. Labels in reasoning, and what a base model runs on to invent, are not read.

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


_LATEST = 100
"""How many statements of a form are looked at, from the end: a bound for replies that loop."""
_HEAD, _TAIL = 1500, 8000
"""How many characters are read sentence by sentence, from either end of a long reply."""
_ENDS = re.compile(r"[.!?;。！？；\n]")
_CONTRAST = re.compile(r"(?i:\b(?:not|n't|instead|rather)\b)|不|非")
_BESIDE = re.compile(rf"\}}\s{{0,5}}(?:,|and|\s){{0,5}}\s{{0,5}}{BOX}")
"""What stands between two boxes side by side: they hold one answer."""


def _extract(text: str, options: str, several: bool) -> Extraction:
    view = plain(hide_reasoning(text))
    if several:
        view = _BESIDE.sub(lambda match: "," + " " * (len(match[0]) - 1), view)
    patterns = _patterns(options)
    for offset, part in turns(view):
        if found := _decide(part, patterns, several):
            return Extraction(found.labels, offset + found.start, offset + found.end)
    return Extraction(None)


def _decide(part: str, patterns: _Patterns, several: bool) -> Claim | None:
    """Return the last claim of the strongest kind, or a later one where the text between takes it back."""
    if whole := patterns.alone.fullmatch(part):
        return _found(whole, patterns, several)
    if not several and len(set(re.findall(r"\w", part[:_HEAD]))) > 2 and patterns.loop.fullmatch(part):
        return None
    listed = listed_labels(part, patterns.row)
    found = [*_verdicts(part, patterns, listed, several), *_claims(part, patterns, listed, several)]
    found = [claim for claim in found if not _rivals(part, claim, found)]
    if not found:
        return None
    found.sort(key=lambda c: (c.end, -c.start))
    strongest = max(claim.weight for claim in found)
    best = [claim for claim in found if claim.weight == strongest][-1]
    for later in found:
        if later.start > best.end and mentions.RETRACTION.search(part, best.end, later.start):
            best = later
    return None if _gone(part, best, patterns.options) or open_cases(part, best, patterns.options) else best


def _claims(part: str, patterns: _Patterns, listed: set[int], several: bool) -> list[Claim]:
    """Return what the sentences at both ends of a part claim."""
    if len(part) <= _HEAD + _TAIL:
        return claims(part, patterns.options, listed, several=several)
    tail = len(part) - _TAIL
    later = claims(part[tail:], patterns.options, {place - tail for place in listed}, several=several)
    later = [replace(claim, start=claim.start + tail, end=claim.end + tail) for claim in later]
    return [*claims(part[:_HEAD], patterns.options, listed, several=several), *later]


def _rivals(part: str, claim: Claim, found: list[Claim]) -> bool:
    """Return whether a sentence makes two verdicts side by side, none of them by way of conclusion or correction."""
    near = (c for c in found if c.weight == claim.weight == Weight.VERDICT and set(c.labels) != set(claim.labels))
    for other in near:
        first, second = sorted((claim, other), key=lambda c: c.start)
        between = part[first.end : min(second.start, first.end + 60)]
        if first.end + 60 > second.start and not _ENDS.search(between) and not new_thought(between, 0, len(between)):
            return not _CONTRAST.search(between)
    return False


def _gone(part: str, best: Claim, options: str) -> bool:
    """Return whether the text after a claim withdraws it, gives up, or turns its label down on second thoughts."""
    after = next((stop.end() for stop in mentions.SENTENCE.finditer(part, best.end)), len(part))
    doubt = mentions.RETRACTION.search(part, best.end)
    if mentions.WITHDRAWN.search(part, best.end) or words.UNSETTLED.search(part, best.end):
        return True
    if words.GIVES_UP.search(part, after) and (doubt or best.weight < Weight.VERDICT):
        return True
    if not doubt:
        return False
    rest = part[doubt.start() : doubt.start() + _TAIL]
    later = [m for s in sentences(rest, options) for m in s.mentions if not words.SUPPOSES.search(s.text)]
    return any(m.status == Status.REJECTED and m.labels == best.labels for m in later)


def _verdicts(part: str, patterns: _Patterns, listed: set[int], several: bool) -> Iterator[Claim]:
    for pattern in patterns.stated:
        for match in list(pattern.finditer(part))[-_LATEST:]:
            found = _found(match, patterns, several)
            if match.start() == match.start("list") and not cues.LED.search(part[max(match.start() - 40, 0) : match.start()]):
                continue
            if not found or found.start in listed or OPEN_AFTER.match(part, found.end):
                continue
            told = mentions.is_mention(part, match.start(), found.start, match.end("list"))
            if not told and not mentions.is_instruction(part, match.start(), found.end):
                yield found


def _found(match: re.Match[str], patterns: _Patterns, several: bool) -> Claim | None:
    """Return the labels of a list in option order; None where one was asked for and several came, or the list is open."""
    stated = patterns.words.sub(lambda word: " " * len(word[0]), match["list"])
    letters = [letter for letter in re.finditer(r"[^\W_]", stated) if letter[0].upper() in patterns.canonical]
    distinct = {patterns.canonical[letter[0].upper()] for letter in letters}
    if not letters or (len(distinct) > 1 and (not several or cues.OPEN.search(match["list"]))):
        return None
    labels = "".join(sorted(distinct, key=patterns.options.index))
    return Claim(labels, match.start("list") + letters[0].start(), match.start("list") + letters[-1].end(), Weight.VERDICT)


@dataclass(frozen=True, slots=True)
class _Patterns:
    options: str
    canonical: dict[str, str]
    stated: list[re.Pattern[str]]
    words: re.Pattern[str]
    alone: re.Pattern[str]
    loop: re.Pattern[str]
    """A reply that only repeats labels."""
    row: re.Pattern[str]


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
        stated=[re.compile(expand(p), re.MULTILINE) for p in cues.VERDICTS],
        words=re.compile(cues.WORDS),
        alone=re.compile(expand(cues.ALONE)),
        loop=re.compile(rf"[\s(]*+(?:[{re.escape(options)}](?:[\s.,;:、()]++|\Z))+"),
        row=re.compile(
            rf"^[^\w\n]*(?:(?i:option|choice|statement)\s+|选项\s*)?\(?(?P<label>[{re.escape(options)}])"
            r"(?=[).:：、\]|]|\s+[-–—|]|项)",
            re.MULTILINE,
        ),
    )
