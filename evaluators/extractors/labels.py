"""Where a reply names options, and what the clause round each says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from evaluators.extractors import cues
from evaluators.extractors import readings as words
from evaluators.extractors.clauses import CLAUSE, Status, status_of

_LATEST = 100
"""How many groups of labels are looked at in a sentence, from its end."""
_STOP = re.compile(
    r"(?<![\n(\[][A-Z])(?<!\A[A-Z])(?<![A-Z]\.\s[A-Z])(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\b[DM]r)\.(?=\s|\Z"
    r"|[\"')\]])(?!\s?[A-Z]\.\s?[A-Z])|[!?\n。！？；]|;(?=\s)"
)
_GLUE = re.compile(
    r"(?:[\s)\]\"'(\[]|[,/&、;+]|\b(?i:and|or|as well as|nor|und|oder"
    r"|et|ou|y|o|e|option|choice|through|to)\b|[和与及到至と]|或者?"
    r"|[-–~|]|选?项)*"
)
_OPEN = re.compile(r"(?i:\b(?:or|oder|ou|o)\b)|[/|或]")
OPEN_AFTER = re.compile(
    r"[\s.…]*(?:\([^()]{0,40}\)\s*)?,?\s*(?:\b(?:or|oder|ou)\b|或者?|还是)\s*(?:maybe |perhaps |possibly |option |choice |选项"
    r"|选)?\(?[A-Z]\b"
)
_RANGE = re.compile(r"\)?\s*(?:[-–~]|\b(?:to|through|bis)\b|[到至])\s*\(?\Z")
_ITEM = re.compile(r"\s*(?:选项|项)")
_CHANGE = re.compile(r"(?i:\b(?:chang|switch|revis|mov|updat)\w*|改)")
_VERB = (
    r"\s+(?:is|was|isn't|wasn't|has|had|would|could|can|cannot|can't|must|should|does|doesn't|did|will|seems|fails|looks"
    r"|gives|makes|fits"
    r"|says|states|alone|remains|wins|survives|follows|holds|works|matches|lists|satisfies|stands|it|captures|describes"
    r"|reads|offers|and|the (?:answer|correct|right|best)|answers|accounts"
    r"|or|as well|but|und|oder|et|ou|y|richtig|falsch|nails|edges|qualifies)\b"
)
_SHUT = (
    r"\s*(?:\Z|[\n.,;:!?)\]}\"'、。—–&/」】-]|\(|[\u3040-\u9fff]"
    r"|(?:I (?:think|guess|believe|suppose)|(?:to|through) [A-Z]|because|since|due|which|as|for me|over|here|rather"
    r"|instead)\b)"
)
_MATHS = re.compile(r"\s*(?:[/|](?!\s*\(?[A-Z]\b)|[=<>^*∪∩⊂∈→⇒⊥∥]|[-=]>|\\[a-z])|\((?=[a-z]\b|\d)")
"""What follows the letter of a formula."""
_IN_MATHS = re.compile(
    r"(?:(?<![A-Za-z])[A-Za-z]\s*(?:[-=]>|[→⇒])|[<^*+|∪∩⊂∈⊥∥×]|(?<![-=])>|\\cup|\\cap|[a-z]\(|(?<![=!])=(?!\s*\"))\s*\Z"
    r"|\bbox(?:ed)?\{[^{}]*\Z|(?i:^\W*let\b(?!'))[^.]*\Z"
)
_CALLED = re.compile(rf"{words.OPTION_WORD}[(]?\Z")
_FIGURE = re.compile(r"(?i:\b(?:angles?|triangles?|midpoint|vertex|vertices|hypotenuse|congruent|bisects?)\b)")
"""Words of geometry, where a letter is a point unless it is called an option."""
_KIND = re.compile(r"[-\s](?:major|minor|positive|negative|flat|sharp|battery)\b")
_SURNAME, _INITIAL = re.compile(r"\.\s[A-Z][a-z]+\b"), re.compile(r"[A-Z]\.\s?\Z")
_ARTICLE, _WORD = re.compile(r"(?i:\ban?\s\Z)"), re.compile(r"\s+\w")
_SAYS_I = re.compile(r"\s+(?:would|could|can|can't|cannot|must|should|had|has|did|will|was|says?)\b")
_LEADS_TO_I = re.compile(r"(?i:\b(?:is|be|option|only|answer|choice|letter|with|for|to|pick|choose)|[:>→(])\s*\Z")
_NOT_THIS = re.compile(r"(?i:^\W*not (?:option )?\(?)\Z")
_TICKS = "✅✓✔☑√"
_MARK = re.compile(rf"\W*([{_TICKS}❌✗✘✖×])\W*")
_FOREIGN = r"[\s)]*(?:,|,?\s*\b(?:and|or|with|to|from)\b|[-–&/])\s*(?!I\b|{0})[A-Z]\b(?!\.\s|')"
"""A capital that is no label, beside one: both name something else."""
_KEY = re.compile(r"\"\s*:|:\\")
_VALUE = re.compile(r"\"\s*:\s*\"\Z")


@dataclass(frozen=True, slots=True)
class Mention:
    """Labels named together at [start, end) of a reply, in the order of the text."""

    labels: str
    start: int
    end: int
    status: Status
    either: bool
    """Whether they are joined by "or"."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence at [start, end), the mark that ends it, and the labels that it names."""

    start: int
    end: int
    text: str
    mark: str
    mentions: tuple[Mention, ...]


@cache
def _label(options: str) -> re.Pattern[str]:
    """Return the pattern of one label in running text; "A" and "I" count only where they cannot be words."""
    weak = "".join(option for option in options if option in "AI")
    firm = "".join(option for option in options if option not in weak and not option.islower())
    edge = r"(?![A-Za-z0-9_]|'[A-Za-z]|[+#^]|-(?![-–—>])|\.\s?[A-Za-z]\.(?:\s?[A-Z]|[a-z]|\Z)|\.[A-Za-z]\Z|\.[0-9]|\s*=\s*\S)"
    kinds = [f"[{re.escape(firm)}]{edge}"] if firm else []
    small = "".join(option.lower() for option in options if option.isascii() and option.lower() not in options)
    if small:
        kinds += [
            rf"(?<!\w\()(?<=\()[{small}](?=\))(?!\)\w)",
            rf"(?:(?<=option )|(?<=option \()|(?<=choice )|(?<=choice \()|(?<=letter )|(?<=[Ii]t's )"
            rf"|(?<=\bis ))[{small}](?=[)\s]*(?:[.,;:!](?![\w.])|\Z|is\b))",
            rf"(?<![\s\S])[{small}](?=[).,:])",
        ]
    if weak:
        kinds += [
            rf"(?<=[(\[\"'「【])[{weak}](?=[)\]\"'」】])",
            rf"(?:(?<=letter )|(?<=answer )|(?<=box ))[{weak}]{edge}(?!\s+[a-z])",
            rf"(?:(?<=[Oo]ption )|(?<=[Oo]ptions )|(?<=[Cc]hoice )|(?<=[Cc]hoices )|(?<=[Ss]tatement ))[{weak}]{edge}",
        ]
        kinds += [f"[{weak}]{edge}(?={_SHUT}|{_VERB})"]
    return re.compile(rf"(?<![A-Za-z0-9_\\\u0370-\u03ff])(?<![A-Za-z]')(?<!\d )(?<![Nn]/)(?:{'|'.join(kinds)})")


def sentences(part: str, options: str) -> list[Sentence]:
    """Return the sentences of a part of a reply that hold anything."""
    found: list[Sentence] = []
    start = 0
    pattern = _label(options.replace("I", "") if re.search(r"\bI(?:II?|V)\b", part) and len(options) > 1 else options)
    listed = in_lists(part)
    for stop in [*_STOP.finditer(part), None]:
        end = stop.start() if stop else len(part)
        text = part[start:end]
        if text.strip():
            mentions = tuple(_mentions(part, text, start, pattern, options, listed)) if pattern.search(text) else ()
            found.append(Sentence(start, end, text, stop[0] if stop else "", mentions))
        start = stop.end() if stop else end
    return found


def in_lists(part: str) -> set[int]:
    """Return where labels stand in lines that list three options or more."""
    lines = ([m.end() - 2 for m in cues.ENUMERATED.finditer(part, *line.span())] for line in re.finditer(r"[^\n]+", part))
    return {
        place
        for places in lines
        if len({part[place] for place in places}) > 2
        for place in (places[:-1] if part[places[-1]] in {part[other] for other in places[:-1]} else places)
    }


def _mentions(part: str, text: str, offset: int, pattern: re.Pattern[str], options: str, listed: set[int]) -> Iterator[Mention]:
    letters = list(pattern.finditer(text))
    own = [letter for letter in letters if not _other(text, letter)]
    groups = _groups(text, own)[-_LATEST:]
    foreign, previous = _foreign(options), None
    for place, group in enumerate(groups):
        start, end = group[0].start(), group[-1].end()
        before = text[groups[place - 1][-1].end() if place else 0 : start]
        after = text[end : groups[place + 1][0].start() if place + 1 < len(groups) else len(text)]
        labels = "".join(dict.fromkeys(letter[0] if letter[0] in options else letter[0].upper() for letter in group))
        if len(group) == 2 and _RANGE.fullmatch(text[group[0].end() : group[1].start()]):
            labels = options
        status = status_of(before, after)
        if not place and (mark := _MARK.fullmatch(before)):
            status = Status.FAVOURED if mark[1] in _TICKS else Status.REJECTED
        if previous == Status.NAMED and status in (Status.POINTED, Status.LED) and not CLAUSE.search(before):
            status = Status.NAMED
        if status in (Status.POINTED, Status.LED) and foreign.match(text, end):
            status = Status.NAMED
        previous = status
        if status < Status.FAVOURED and offset + start in listed:
            status = Status.NAMED
        called = _CALLED.search(before)
        if status == Status.POINTED and len(own) < len(letters) and not called:
            status = Status.NAMED
        if status not in (Status.REJECTED, Status.LED) and not called and _FIGURE.search(text):
            status = Status.NAMED
        yield Mention(
            labels,
            offset + start,
            offset + end,
            status,
            bool(_OPEN.search(text[start:end]) or OPEN_AFTER.match(part, offset + end)),
        )


@cache
def _foreign(options: str) -> re.Pattern[str]:
    return re.compile(_FOREIGN.format(f"[{re.escape(options)}]"))


def _groups(text: str, letters: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Return the letters in runs that are named together."""
    groups: list[list[re.Match[str]]] = []
    for letter in letters:
        joint = text[groups[-1][-1].end() : letter.start()] if groups else ""
        together = groups and len(joint) < 30 and _GLUE.fullmatch(joint)
        if together and "," in joint:
            repeated = letter[0] in {other[0] for other in groups[-1]}
            together = None if repeated or (_ITEM.match(text, letter.end()) and not _ITEM.match(joint)) else together
        if together and joint.strip() == "," and text[letter.end() : letter.end() + 1] == "、":
            together = None
        if together and joint.strip() == "," and _NOT_THIS.search(text, 0, groups[-1][0].start()):
            together = None
        if together and _RANGE.fullmatch(joint) and _CHANGE.search(text, 0, letter.start()):
            together = None
        if together:
            groups[-1].append(letter)
        else:
            groups.append([letter])
    return groups


def _other(text: str, letter: re.Match[str]) -> bool:
    """Return whether a letter names something that is no option: vitamin C, a variable, an initial, the pronoun."""
    before, after = text[max(letter.start() - 60, 0) : letter.start()], text[letter.end() : letter.end() + 30]
    named = words.OTHER_NAME.search(before) and not words.ASSIGNS.search(before)
    if named or _KIND.match(after) or _MATHS.match(after) or _IN_MATHS.search(before):
        return True
    if _KEY.match(after) or _VALUE.search(before) or before.endswith("."):
        return True
    if (_SURNAME.match(after) and _INITIAL.search(before)) or (_ARTICLE.search(before) and _WORD.match(after)):
        return True
    if letter[0] != "I":
        return False
    return bool(_SAYS_I.match(after)) or (not text[letter.end() :].strip() and not _LEADS_TO_I.search(before))
