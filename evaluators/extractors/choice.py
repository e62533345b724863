"""The option, or options, that a reply states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from evaluators.extractors import cues, mentions
from evaluators.extractors import readings as words
from evaluators.extractors.labels import Mention, Sentence, Status, in_lists, sentences
from evaluators.extractors.text import BOX, hide_reasoning, plain, turns
from leaderflow.core.types import Extraction


def choice_letter(text: str, options: str = "ABCD") -> Extraction:
    """Return the one option that a reply states, as written in `options`, or nothing.

    Every label that the reply names is read with its clause: what is rejected, supposed, asked, reported or merely described is no
    claim; what a clause favours or points to is one. The strongest kind of claim counts (`_WEIGHTS`), its last one if there are
    several, unless the text between takes it back. Labels in reasoning, and what a base model runs on to invent, are not read.

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
class _Claim:
    """Labels claimed at [start, end) of a part."""

    labels: str
    start: int
    end: int
    weight: int


VERDICT, SINGLED, CONCLUDED, POINTED = 4, 3, 2, 1
"""The kinds of claims: a form of words or marks for the answer; a favoured label; one in a concluding sentence; one pointed to."""

_LATEST = 100
"""How many statements of a form, and how many sentences, are looked at, from the end: a bound for replies that loop."""
_OPEN_AFTER = re.compile(r"[\s.…]*(?:\([^()\n]{0,40}\)\s*)?,?\s*(?:\b(?:or|oder|ou)\b|或者?|还是)\s*(?:maybe |perhaps |possibly |option |choice |选项|选)?\(?[A-Z]\b")
_ENDS = re.compile(r"[.!?;。！？；\n]")
_UNSETTLED = re.compile(r"都有可能|都说得通|都可以|两个都|(?i:\b(?:both|either) (?:are|is|would be|seem|could be)\s+(?:\w+\s)?(?:possible|plausible|defensible|acceptable|fine|legitimate))")
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


def _decide(part: str, patterns: _Patterns, several: bool) -> _Claim | None:
    """Return the last claim of the strongest kind, or a later one where the text between takes it back."""
    if whole := patterns.alone.fullmatch(part):
        return _found(whole, patterns, several)
    claims = sorted([*_verdicts(part, patterns, several), *_claims(part, patterns, several)], key=lambda c: (c.end, -c.start))
    claims = [claim for claim in claims if not _rivals(part, claim, claims)]
    if not claims:
        return None
    strongest = max(claim.weight for claim in claims)
    best = [claim for claim in claims if claim.weight == strongest][-1]
    for later in claims:
        if later.start > best.end and mentions.RETRACTION.search(part, best.end, later.start):
            best = later
    after = next((stop.end() for stop in mentions.SENTENCE.finditer(part, best.end)), len(part))
    gone = mentions.WITHDRAWN.search(part, best.end) or words.GIVES_UP.search(part, after) or _both_stand(part, best.end)
    return None if gone or _denied(part, best, patterns.options) else best


def _rivals(part: str, claim: _Claim, claims: list[_Claim]) -> bool:
    """Return whether a sentence makes two verdicts side by side, none of them by way of conclusion or correction."""
    near = (c for c in claims if c.weight == claim.weight == VERDICT and set(c.labels) != set(claim.labels))
    for other in near:
        first, second = sorted((claim, other), key=lambda c: c.start)
        between = part[first.end : second.start]
        if len(between) < 60 and not _ENDS.search(between) and not _turns(between, 0, len(between)):
            return not re.search(r"(?i:\b(?:not|n't|instead|rather)\b)|不|非", between)
    return False


def _both_stand(part: str, start: int) -> bool:
    return bool(_UNSETTLED.search(part, start))


def _denied(part: str, best: _Claim, options: str) -> bool:
    """Return whether the text takes a claim back by turning its label down later, after a word of second thoughts."""
    doubt = mentions.RETRACTION.search(part, best.end)
    if not doubt:
        return False
    rest = part[doubt.start() :]
    later = [m for s in sentences(rest, options) for m in s.mentions if not words.SUPPOSES.search(s.text)]
    return any(m.status == Status.REJECTED and m.labels == best.labels for m in later)


def _verdicts(part: str, patterns: _Patterns, several: bool) -> Iterator[_Claim]:
    listed = _listed(part, patterns)
    for pattern in patterns.stated:
        for match in list(pattern.finditer(part))[-_LATEST:]:
            found = _found(match, patterns, several)
            if match.start() == match.start("list") and not cues.LED.search(part[max(match.start() - 40, 0) : match.start()]):
                continue
            if not found or found.start in listed or _OPEN_AFTER.match(part, found.end):
                continue
            if not mentions.is_mention(part, match.start(), found.start, match.end("list")) and not mentions.is_instruction(
                part, match.start(), found.end
            ):
                yield found


def _found(match: re.Match[str], patterns: _Patterns, several: bool) -> _Claim | None:
    """Return the labels of a list in option order; None where one was asked for and several came, or the list is open."""
    stated = patterns.words.sub(lambda word: " " * len(word[0]), match["list"])
    letters = [letter for letter in re.finditer(r"[^\W_]", stated) if letter[0].upper() in patterns.canonical]
    distinct = {patterns.canonical[letter[0].upper()] for letter in letters}
    if not letters or (len(distinct) > 1 and (not several or cues.OPEN.search(match["list"]))):
        return None
    labels = "".join(sorted(distinct, key=patterns.options.index))
    return _Claim(labels, match.start("list") + letters[0].start(), match.start("list") + letters[-1].end(), VERDICT)


_NEW_THOUGHT = re.compile(
    r"(?i:(?<!\bif),?\s\b(?:so(?! (?:is|are|was|does|do)\b)|therefore|thus|hence|consequently|but|yet|however)\b|, and (?:so|that)\b)|[:：]|所以|因此|故|但|而(?!且|非|不)|不过|则"
)
_YES = re.compile(r"(?i:\b(?:yes|yep|yeah|that's (?:it|our|the)|exactly|indeed)\b)|是的|没错")
_NEXT = re.compile(r"(?i:^\W*(?:next|first|now|second|third|start|consider|look|see)\b)|^\W*(?:先|再|首先|其次)")
_TAG = re.compile(r"(?i:,\s*(?:isn't|wasn't|right|no|correct)\b[^,]*\Z)")
_PAST = re.compile(r"(?i:\b(?:at first|initially|originally|earlier|my first|first thought|I had|used to|was going to)\b)|起初|一开始|原先|首先想到|先前")
_BEGINS = re.compile(r"\s*(?:[,.)\]:—–]|-\s|\Z|\n|because\b|since\b|as\b|of course\b|[A-Z]|(?!选?项)[一-鿿])")
_TITLED = re.compile(r"[)\]]?\s*:?\s+(?:[A-Z0-9]|(?:the |an? )(?!text|passage|author|statement|option|question|choice|writer))|\s+[一-鿿]|\)\s")
"""What follows a label that begins a line with its option's text."""
_BEGUN = re.compile(r"(?i:[^\w\n]*(?:option|choice|statement)\s*\(?)|\W*选项|[^\S\n]+\(")
_CUT_OFF = re.compile(r"(?i:(?:[,(:=]|\b(?:the|a|an|of|to|(?<!it )is|and|or|hence|so|thus|that|because|by|with|in|for|are|which|therefore))\s*\Z)")


def _claims(part: str, patterns: _Patterns, several: bool) -> list[_Claim]:
    """Return what the sentences claim, in order; one that only points counts where no later one claims anything."""
    read = sentences(part, patterns.options)
    listed = _listed(part, patterns)
    found: list[_Claim] = []
    for place in range(max(len(read) - _LATEST, 0), len(read)):
        if not read[place].mentions:
            continue
        following = next((s.mentions[0].start for s in read[place + 1 :] if s.mentions), len(part))
        if claim := _claim(part, read[place], listed, part[read[place].end : min(following, read[place].end + 120)], several):
            if place + 1 == len(read) and not read[place].mark and _breaks_off(part, read[place], claim, len({m.labels for s in read for m in s.mentions})):
                continue
            found.append(claim)
    if (first := _leads(part, read, listed)) and not any(claim.start == first.start and claim.weight >= SINGLED for claim in found):
        found.append(first)
    if rest := _left_over(part, read, patterns.options):
        found.append(rest)
    rows = {claim.labels for claim in found if claim.start in listed}
    found = [claim for claim in found if claim.start not in listed or len(rows) == 1]
    return [claim for claim in found if claim.weight > POINTED or claim is found[-1]]


def _left_over(part: str, read: list[Sentence], options: str) -> _Claim | None:
    """Return the only option that is not rejected, where the reply goes through all and ends by naming it."""
    named = [mention for sentence in read for mention in sentence.mentions]
    rejected = {label for mention in named if mention.status == Status.REJECTED for label in mention.labels}
    left = [mention for mention in named if not set(mention.labels) & rejected]
    if len(rejected) != len(options) - 1 or len(options) < 3 or not left or not read[-1].mark:
        return None
    return _Claim(left[-1].labels, left[-1].start, left[-1].end, CONCLUDED)


def _breaks_off(part: str, sentence: Sentence, claim: _Claim, named: int) -> bool:
    """Return whether a sentence without a full stop is cut off: at a word that needs more, or when it has only named the next option."""
    begun = _BEGUN.fullmatch(sentence.text[: claim.start - sentence.start]) and not part[claim.end :].strip(" ).:")
    return bool((claim.end < sentence.end and _CUT_OFF.search(sentence.text)) or (begun and named > 2))


def _leads(part: str, read: list[Sentence], listed: set[int]) -> _Claim | None:
    """Return the label that the first or the last line begins with, where no other line begins with another."""
    rows = [s for s in read if s.mentions and not re.search(r"\w", part[part.rfind("\n", 0, s.mentions[0].start) + 1 : s.mentions[0].start])]
    if len({sentence.mentions[0].labels for sentence in rows}) != 1:
        return None
    for sentence in rows:
        lead = sentence.mentions[0]
        if lead.start in listed or len(lead.labels) > 1 or sentence.mark in ("?", "？") or not _BEGINS.match(part, lead.end):
            continue
        if lead.status >= Status.POINTED or _TITLED.match(part, lead.end):
            return _Claim(lead.labels, lead.start, lead.end, SINGLED)
    return None


def _claim(part: str, sentence: Sentence, listed: set[int], follows: str, several: bool) -> _Claim | None:
    asked = sentence.mark in ("?", "？") and not _TAG.search(sentence.text)
    live = [m for m in sentence.mentions if m.status > Status.NAMED and not _talked(part, sentence, m)]
    live = [m for m in live if m.start not in listed or m.status == Status.FAVOURED]
    if not live or (asked and not (_YES.search(follows) and not mentions.NEGATION.search(follows))):
        return None
    strongest = max(m.status for m in live)
    chosen = [m for m in live if m.status == strongest] if strongest == Status.FAVOURED else live
    distinct = dict.fromkeys(label for m in chosen for label in m.labels)
    if len(distinct) > 1 and not several:
        chosen = chosen[-1:] if len(chosen) > 1 and _turns(part, chosen[-2].end, chosen[-1].start) else []
        distinct = dict.fromkeys(label for m in chosen for label in m.labels)
    if not chosen or any(m.either for m in chosen) or (len(distinct) > 1 and not several):
        return None
    single = strongest == Status.FAVOURED or (chosen[-1].status == Status.LED and ":" in part[sentence.start : chosen[-1].start])
    concluded = asked or chosen[-1].status == Status.LED or _concludes(part, sentence, chosen[-1])
    return _Claim("".join(distinct), chosen[0].start, chosen[-1].end, SINGLED if single else CONCLUDED if concluded else POINTED)


def _turns(part: str, start: int, end: int) -> bool:
    """Return whether a new thought begins between two labels, one that concludes or corrects."""
    return bool(_NEW_THOUGHT.search(part, start, end) or mentions.RETRACTION.search(part, start, end))


def _talked(part: str, sentence: Sentence, mention: Mention) -> bool:
    """Return whether the thought that names a label supposes, reports, doubts or remembers."""
    thought = _NEW_THOUGHT.split(part[sentence.start : mention.start])[-1]
    after = part[mention.end : sentence.end]
    return bool(
        words.SUPPOSES.search(thought)
        or words.REPORTS.search(thought)
        or _PAST.search(thought)
        or (mention.status < Status.FAVOURED and words.UNDECIDED.search(thought))
        or words.MAYBE.search(thought)
        or re.match(r"[^,;.]*\b(?:unclear|undecided|unknown)\b", after)
        or (mention.status < Status.FAVOURED and _NEXT.search(thought))
        or re.match(r"[^,.]{0,20}\b(?:if|unless)\b", after)
        or re.match(r"\s*(?:呢|吗|么)", after)
        or mentions.is_instruction(part, mention.start, mention.end)
    )


def _concludes(part: str, sentence: Sentence, mention: Mention) -> bool:
    return bool(words.CONCLUDES.search(part, sentence.start, mention.start)) or len(sentence.text.split()) <= 4


def _listed(part: str, patterns: _Patterns) -> set[int]:
    """Return where lines begin with a label as questions list their options: at least two different ones do."""
    found = list(patterns.row.finditer(part))
    labels = [match["label"] for match in found]
    if len(set(labels)) < 2:
        return in_lists(part)
    return in_lists(part) | {match.start("label") for place, match in enumerate(found) if place + 1 < len(found) or labels.count(match["label"]) == 1}


@dataclass(frozen=True, slots=True)
class _Patterns:
    options: str
    canonical: dict[str, str]
    stated: list[re.Pattern[str]]
    words: re.Pattern[str]
    alone: re.Pattern[str]
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
        stated=[re.compile(expand(p), re.MULTILINE) for p in cues.FIRM],
        words=re.compile(cues.WORDS),
        alone=re.compile(expand(cues.ALONE)),
        row=re.compile(rf"^[^\w\n]*(?:(?i:option|choice|statement)\s+|选项\s*)?\(?(?P<label>[{re.escape(options)}])(?=[).:：、\]|]|\s+[-–—|]|项)", re.MULTILINE),
    )
