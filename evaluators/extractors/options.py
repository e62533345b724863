"""Where a reply names options: single labels, and labels named together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

_VERB = (
    r"\s+(?:is|was|isn't|wasn't|has|had|would|could|can|cannot|can't|must|should|does|doesn't|did|will|seems|fails|looks|gives|makes"
    r"|fits|says|states|alone|remains|wins|survives|follows|holds|works|matches|satisfies|stands|it|captures|describes|reads|offers|sounds|nehmen|wählen|trifft|stimmt"
    r"|and|or|the (?:answer|correct|right|best)|answers|accounts|as well|but|und|oder|et|ou|y|ist|est|es|è|é|richtig|falsch)\b"
)
_SHUT = (
    r"\s*(?:\Z|[\n.,;:!?)\]}\"'、。—–&/」】\-→=<✅✓✔☑√❌✗✘✖×☐]|\(|[\u3040-\u9fff\uac00-\ud7af]"
    r"|(?:I (?:think|guess|believe|suppose)|(?:to|through) [A-Z]|because|since|due|which|as|for me|over|here|rather|instead)\b)"
)
"""What follows a capital A or I that is no word."""
_EDGE = (
    r"(?![A-Za-z0-9_]|'[A-Za-z]|[+#^]|-(?![-–—>])|\.\s?[A-Za-z]\.(?:\s?[A-Z]|[a-z]|\Z)|\.[A-Za-z]\Z|\.[0-9]|\s*=\s*\S"
    r"|\s*(?:\\c[au]p|[∪∩⊂∈]|[<>](?=\s*[A-Z\d(])))"
)
_SMALL_AFTER = r"(?=[)\]}.,:;!?\"'\s]*(?:\Z|[\n)\]}.,:;!?\"']|(?:because|since|as|is|for)\b))"
_GLUE = re.compile(
    r"(?:[ \t)\]\"'(\[{}]|[,;；/&、+]|\\f?box(?:ed)?(?=\{)|\\text(?=\{)|[和与及到至と]|或者?|[-–~|]|选?项"
    r"|\b(?i:and|or|as well as|nor|und|oder|et|ou|y|o|e|option|choice|through|to)\b)*"
)
_OR = re.compile(r"(?i:\b(?:or|oder|ou|o)\b)|[/|或]")
_OR_AFTER = re.compile(
    r"[\s.…]*(?:\([^()]{0,40}\)\s*)?,?\s*(?:\b(?:or|oder|ou)\b|或者?|还是)\s*(?:maybe |perhaps |possibly |option |choice |选项|选)?"
    r"\(?[A-Z]\b"
)
_RANGE = re.compile(r"\)?\s*(?:[-–~]|\b(?:to|through|bis)\b|[到至])\s*\(?\Z")
_JOINED = re.compile(r"(?i:\b(?:and|or|nor|und|oder|et|ou|y|o|e|as well as)\b)|[/&、+和与及或|]")
_LOOSE = (",", ";", "；")
_NOT = re.compile(r"(?i:\bnot (?:option )?\(?)\Z")
_GOES_ON = re.compile(r"[)\]]?\s*(?:(?:is|was|isn't|has|would|does|can|cannot|contains?|describes?|says?|fails?)\b|选?项|[—–-]\s)")
"""What follows a label that begins a clause of its own."""


@dataclass(frozen=True, slots=True)
class Named:
    """Labels named together at [start, end), as in `options` and in the order of the text; `either` if joined by "or"."""

    labels: str
    start: int
    end: int
    either: bool


def named(text: str, options: str) -> list[Named]:
    """Return the labels that a plain view names, those that stand together as one.

    Args:
        text: a plain view (`text.plain`).
        options: the labels, one character each.
    """
    if "I" in options and len(options) > 1 and re.search(r"\bI(?:II?|V)\b", text):
        options_here = options.replace("I", "")
    else:
        options_here = options
    return [_named(text, group, options) for run in _runs(text, options_here) for group in _parted(text, run)]


@cache
def _label(options: str) -> re.Pattern[str]:
    """Return the pattern of one label; "A" and "I" count only where they cannot be words, small letters where nothing else fits."""
    weak = "".join(option for option in options if option in "AI")
    firm = "".join(option for option in options if option not in weak and not option.islower())
    small = "".join(option.lower() for option in options if option.isascii() and option.lower() not in options)
    lower = "".join(option for option in options if option.islower())
    kinds = [f"[{re.escape(firm)}]{_EDGE}"] if firm else []
    if len(options) > 1 and options.isascii() and options.isupper():
        kinds.insert(0, "(?=[A-Z]{2})" + "".join(f"{option}?" for option in options) + r"(?![A-Za-z0-9_'])")
    if small or lower:
        kinds.append(
            rf"(?:(?<![\s\S])|(?<=\n)|(?<=[(\[{{\"'])|(?<=[:：] )|(?<=[:：])|(?<=\bis )|(?<=[Oo]ption )|(?<=[Cc]hoice )"
            rf"|(?<=[Ll]etter )|(?<=with )|(?<=pick )|(?<=choose )|(?<=select )|(?<=[Ii]t's )|(?<=[\s(][a-j], ))"
            rf"[{small}{lower}]{_EDGE}{_SMALL_AFTER}"
        )
    if weak:
        kinds += [
            rf"(?<=[(\[\"'「【{{>])[{weak}](?=[)\]\"'」】}}<])",
            rf"(?:(?<=letter )|(?<=answer )|(?<=box )|(?<=[Oo]ption )|(?<=[Oo]ptions )|(?<=[Cc]hoice )|(?<=[Cc]hoices )"
            rf"|(?<=[Ss]tatement ))[{weak}]{_EDGE}",
            f"[{weak}]{_EDGE}(?={_SHUT}|{_VERB})",
        ]
    return re.compile(rf"(?<![A-Za-z0-9_\\\u0370-\u03ff])(?<![A-Za-z]')(?<![A-Z]\.)(?:{'|'.join(kinds)})")


def _runs(text: str, options: str) -> Iterator[list[re.Match[str]]]:
    """Yield the letters in runs between which nothing but glue stands."""
    run: list[re.Match[str]] = []
    for letter in _label(options).finditer(text):
        joint = text[run[-1].end() : letter.start()] if run else ""
        if run and not (len(joint) < 30 and _GLUE.fullmatch(joint)):
            yield run
            run = []
        run.append(letter)
    if run:
        yield run


def _parted(text: str, run: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Yield the groups of a run: after a comma or semicolon, a label may begin a clause of its own."""
    joints = [text[one.end() : other.start()] for one, other in pairwise(run)]
    listed = _last(["、" in joint for joint in joints])
    tight = _last([joint.strip() not in _LOOSE for joint in joints])
    joined = _last([bool(_JOINED.search(joint)) for joint in joints])
    ends_in_clause = bool(_GOES_ON.match(text, run[-1].end()))
    start, letters = 0, {run[0][0]}
    for place, joint in enumerate(joints):
        mark, letter = joint.strip(" )]}\"'({["), run[place + 1][0]
        if mark in _LOOSE:
            turns = place == start and _NOT.search(text, max(run[start].start() - 12, 0), run[start].start())
            other = listed > place or (mark != "," and tight > place)
            if letter in letters or turns or other or (ends_in_clause and joined < start):
                yield run[start : place + 1]
                start, letters = place + 1, set()
        letters.add(letter)
    yield run[start:]


def _last(known: list[bool]) -> int:
    """Return the last place that holds true; -1 for none."""
    return max((place for place, one in enumerate(known) if one), default=-1)


def _named(text: str, group: list[re.Match[str]], options: str) -> Named:
    start, end = group[0].start(), group[-1].end()
    letters = "".join(letter[0] for letter in group)
    labels = "".join(dict.fromkeys(letter if letter in options else letter.upper() for letter in letters))
    if len(group) == 2 and len(labels) == 2 and _RANGE.fullmatch(text[group[0].end() : group[1].start()]):
        first, last = options.find(labels[0]), options.find(labels[1])
        labels = options[first : last + 1] if first < last else labels
    return Named(labels, start, end, (len(labels) > 1 and bool(_OR.search(text[start:end]))) or bool(_OR_AFTER.match(text, end)))
