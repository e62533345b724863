"""What the sentences of a reply claim about its options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from evaluators.extractors import mentions
from evaluators.extractors import readings as words
from evaluators.extractors.clauses import QUOTED, Status
from evaluators.extractors.labels import Mention, Sentence, in_lists, sentences


class Weight(IntEnum):
    """The kinds of claims, the weakest first."""

    POINTED = 1
    """A sentence points to a label; counts where no later sentence claims anything."""
    CONCLUDED = 2
    """The sentence draws a conclusion, or a copula or an arrow leads to the label."""
    SINGLED = 3
    """The clause favours the label, a line begins with it, or a word and a colon lead to it."""
    VERDICT = 4
    """A form of words or marks that states the answer (`cues.VERDICTS`)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Labels claimed at [start, end) of a part of a reply."""

    labels: str
    start: int
    end: int
    weight: Weight


_LATEST = 100
"""How many sentences are looked at, from the end."""
_NEAR = 400
"""How many characters of a sentence are read on either side of a label."""
_NEW_THOUGHT = re.compile(
    r"(?i:(?<!\bif),?\s\b(?:which (?:makes|means|gives|leaves|points)|so(?! (?:is|are|was|does|do)\b)|therefore|thus"
    r"|hence|consequently|but|yet|however)\b|, and (?:so"
    r"|that)\b)"
    r"|[:：]|其实|实际上|所以|因此|故|但|而(?!且|非|不)|不过|则"
)
_YES = re.compile(r"(?i:\b(?:yes|yep|yeah|that's (?:it|our|the)|exactly|indeed)\b)|是的|没错")
_TAG = re.compile(r"(?i:,\s*(?:isn't|wasn't|right|no|correct)\b[^,]*\Z)")
_UNCLEAR = re.compile(
    r"[^,;.]*\b(?:unclear|undecided|unknown)\b|[^,;.]{0,40},? (?:but|and) so (?:does|is|do|would)\b|[^,.]{0,20}\b(?:if"
    r"|unless)\b|[^,.]{0,9}\bis (?:correct|right) (?:under|only if|only when|if)\b|[^,.]{0,9}would be (?:correct"
    r"|right)[^,.]{0,10}\b(?:for|under|when)\b|\s*(?:呢|吗|么)"
)
"""What follows a label of which nothing is claimed."""
_BEGINS = re.compile(r"\s*(?:[,.)\]:—–]|-\s|\Z|\n|because\b|since\b|as\b|of course\b|[A-Z]|(?!选?项)[一-鿿])")
"""What follows a label that a line begins with."""
_TITLED = re.compile(
    r"[)\]]?\s*:?\s+(?:[A-Z0-9]|(?:the |an? )(?!text|passage|author|statement|option|question|choice|writer))|\s+[一-鿿]|\)\s"
)
"""What follows one that stands before its option's text."""
_BEGUN = re.compile(r"(?i:[^\w\n]*(?:option|choice|statement)\s*\(?)|\W*选项|[^\S\n]+\(")
_CUT_OFF = re.compile(
    r"(?i:(?:[,(:=]|\b(?:the|a|an|of|to|(?<!it )is|and|or|hence|so|thus|that|because|by|with|in|for|are|which|therefore))\s*\Z)"
)
_TITLE_ALONE = re.compile(r"[).:]\s+[a-z][a-z'-]*(?: [a-z'-]+){0,3}[.!]?\s*\Z")
"""What follows a label in a reply that is it and its option's text."""
_FEW = 4
"""How many words a sentence has at most that says nothing but its label."""


def claims(part: str, options: str, listed: set[int], *, several: bool) -> list[Claim]:
    """Return what the sentences claim, in order; one that only points counts where no later one claims anything.

    Args:
        part: the plain view of a part of a reply.
        options: the labels, one character each.
        listed: where lines begin with a label as questions list their options.
        several: whether labels named together are a claim.
    """
    read = sentences(part, options)
    found = [
        claim for place in range(max(len(read) - _LATEST, 0), len(read)) if (claim := _claim(part, read, place, listed, several))
    ]
    if (first := _leads(part, read, listed)) and not any(c.start == first.start and c.weight >= first.weight for c in found):
        found.append(first)
    if set_off := _set_off(part, read):
        found.append(set_off)
    if rest := _left_over(read, options):
        found.append(rest)
    rows = {claim.labels for claim in found if claim.start in listed}
    found = [claim for claim in found if claim.start not in listed or len(rows) == 1 or claim is set_off]
    return [claim for claim in found if claim.weight > Weight.POINTED or claim is found[-1]]


_CIRCUMSTANCE = re.compile(
    r"(?:\A|[.;!?\n。；！？]|[,，](?: and| but| while)?(?= ))[^\w\n]*(?:(?:and|but|while) )?(?i:(?P<lead>if|when|assuming"
    r"|under|in|for|with"
    r"|taken|literally|according to|on|beim?|im|für|bei|nach|si|en|para|pour|avec|con|从|按|若|如果|对)"
    r"(?![a-z])"
    r"(?! (?:the end|conclusion|short|summary|sum|this|these|that|fact|all)\b)|(?P<else>without|otherwise|sonst|sinon|否则))"
)
"""The beginning of what holds under a circumstance."""


def open_cases(part: str, best: Claim, options: str) -> bool:
    """Return whether a claim holds under one circumstance, and beside it another label under another one."""
    begin, end = max(best.start - 300, 0), min(best.end + 300, len(part))
    heads = list(_CIRCUMSTANCE.finditer(part, begin, end))
    own = max((place for place, head in enumerate(heads) if head.end() <= best.start), default=None)
    if own is None or mentions.SENTENCE_END.search(part, heads[own].end(), best.start):
        return False
    for other in heads[max(own - 2, 0) : own + 3]:
        alike = other is not heads[own] and (
            other["else"] or heads[own]["else"] or other["lead"].lower() == heads[own]["lead"].lower()
        )
        stop = mentions.SENTENCE_END.search(part, other.end())
        claimed = sentences(part[other.end() : stop.start() if stop else end], options) if alike else []
        if any(m.status > Status.NAMED and m.labels != best.labels for s in claimed for m in s.mentions):
            return True
    return False


def new_thought(part: str, start: int, end: int) -> bool:
    """Return whether a thought that concludes or corrects begins between two labels."""
    return bool(_NEW_THOUGHT.search(part, start, end) or mentions.RETRACTION.search(part, start, end))


def listed_labels(part: str, row: re.Pattern[str]) -> set[int]:
    """Return where lines begin with a label as questions list their options: at least two different ones do."""
    found = list(row.finditer(part))
    labels = [match["label"] for match in found]
    places = in_lists(part)
    if len(set(labels)) < 2:
        return places
    return places | {m.start("label") for place, m in enumerate(found) if place + 1 < len(found) or labels.count(m["label"]) == 1}


def _claim(part: str, read: list[Sentence], place: int, listed: set[int], several: bool) -> Claim | None:
    sentence = read[place]
    asked = sentence.mark in ("?", "？") and not _TAG.search(sentence.text)
    live = [m for m in sentence.mentions if m.status > Status.NAMED and not _talked(part, sentence, m)]
    live = [m for m in live if m.start not in listed or m.status == Status.FAVOURED]
    if not live or (asked and not _affirmed(part, read, place)):
        return None
    favoured = [m for m in live if m.status == Status.FAVOURED]
    chosen = _agreed(part, favoured or live, several)
    if not chosen:
        return None
    last = chosen[-1]
    labels = "".join(dict.fromkeys(label for m in chosen for label in m.labels))
    if favoured or (last.status == Status.LED and ":" in part[sentence.start : last.start]):
        weight = Weight.SINGLED
    else:
        weight = Weight.CONCLUDED if asked or _concludes(part, sentence, last) else Weight.POINTED
    claim = Claim(labels, chosen[0].start, last.end, weight)
    if weight == Weight.POINTED and not words.POINTS.search(part, max(sentence.start, last.start - _NEAR), last.start):
        return None
    return None if place + 1 == len(read) and _breaks_off(part, read, claim) else claim


def _agreed(part: str, live: list[Mention], several: bool) -> list[Mention]:
    """Return the mentions that name one answer: all of them, or the last one where it concludes or corrects; none if it is open."""
    if not several and len({label for m in live for label in m.labels}) > 1:
        live = live[-1:] if len(live) > 1 and new_thought(part, live[-2].end, live[-1].start) else []
    if any(m.either for m in live) or (not several and any(len(m.labels) > 1 for m in live)):
        return []
    return live


def _affirmed(part: str, read: list[Sentence], place: int) -> bool:
    """Return whether the text after a question, as far as the next label, says yes to it."""
    start = read[place].end
    end = next((later.mentions[0].start for later in read[place + 1 :] if later.mentions), len(part))
    follows = part[start : min(end, start + 120)]
    return bool(_YES.search(follows)) and not mentions.NEGATION.search(follows)


def _talked(part: str, sentence: Sentence, mention: Mention) -> bool:
    """Return whether the thought that names a label supposes, reports, doubts or remembers."""
    thought = _NEW_THOUGHT.split(part[max(sentence.start, mention.start - _NEAR) : mention.start])[-1]
    thought = QUOTED.sub("", thought)
    tables = [words.SUPPOSES, words.REPORTS, words.REMEMBERS, words.MAYBE, words.CONCEDES]
    if mention.status < Status.FAVOURED:
        tables += [words.UNDECIDED, words.TURNS_TO]
    return (
        any(table.search(thought) for table in tables)
        or bool(_UNCLEAR.match(part, mention.end, min(sentence.end, mention.end + _NEAR)))
        or mentions.is_instruction(part, mention.start, mention.end)
    )


def _concludes(part: str, sentence: Sentence, mention: Mention) -> bool:
    alone = not sentence.text[: mention.start - sentence.start].strip(" \"'(*") and re.match(r"\)?\s*[(–—]", part[mention.end :])
    led = (
        alone
        or mention.status == Status.LED
        or words.CONCLUDES.search(part, max(sentence.start, mention.start - _NEAR), mention.start)
    )
    return bool(led) or len(sentence.text.split()) <= _FEW


def _breaks_off(part: str, read: list[Sentence], claim: Claim) -> bool:
    """Return whether the last sentence is cut off: at a word that needs more, or when it has only named the next option."""
    sentence = read[-1]
    if sentence.mark:
        return False
    rest = part[claim.end :].strip(" ).:")
    lead = sentence.text[: claim.start - sentence.start]
    begun = (_BEGUN.fullmatch(lead) and not rest) or (rest in ("项", "选项") and not lead.strip())
    named = {m.labels for s in read for m in s.mentions}
    return bool((claim.end < sentence.end and _CUT_OFF.search(sentence.text)) or (begun and len(named) > 1))


def _leads(part: str, read: list[Sentence], listed: set[int]) -> Claim | None:
    """Return the label that a line begins with, where no other line begins with another."""
    rows = [s for s in read if s.mentions and not re.search(r"\w", _line_before(part, s.mentions[0].start))]
    if rows and rows[-1] is read[-1] and any(row.mentions[0].labels == rows[-1].mentions[0].labels for row in rows[:-1]):
        last, before = rows[-1].mentions[0], [row.mentions[0] for row in rows[:-1]]
        if last.start not in listed and all(row.start in listed for row in before) and _TITLE_ALONE.match(part, last.end):
            return Claim(last.labels, last.start, last.end, Weight.SINGLED)
    if len({sentence.mentions[0].labels for sentence in rows}) != 1:
        return None
    for sentence in rows:
        lead = sentence.mentions[0]
        if lead.start in listed or len(lead.labels) > 1 or not _BEGINS.match(part, lead.end):
            continue
        if sentence.mark in ("?", "？") and part[lead.end : lead.end + 1] != ".":
            continue
        whole = lead.status == Status.NAMED and _TITLE_ALONE.match(part, lead.end)
        if lead.status >= Status.POINTED or whole or _TITLED.match(part, lead.end):
            return Claim(lead.labels, lead.start, lead.end, Weight.SINGLED)
    return None


_LED_TO = re.compile(r"(?i:\b(?:is|are|be|get|have|choose|pick|select|answer|choice|conclusion|result)\b)[^\w\n]*\n\s*\n[^\w\n]*\Z")
_APART = re.compile(r"[^\n]*(?:\n\s*\n|\s*\Z)")
"""The end of a paragraph that leads to the next one, and the rest of that one."""


def _set_off(part: str, read: list[Sentence]) -> Claim | None:
    """Return the label that begins a paragraph of one line to which the one before leads, where only the others follow."""
    rows = [s.mentions[0] for s in read if s.mentions and not re.search(r"\w", _line_before(part, s.mentions[0].start))]
    if not rows or rows[0].labels in {row.labels for row in rows[1:]} or len(rows[0].labels) > 1:
        return None
    first = rows[0]
    if not _LED_TO.search(part, max(first.start - 80, 0), first.start) or not _APART.match(part, first.end):
        return None
    return Claim(first.labels, first.start, first.end, Weight.SINGLED)


def _line_before(part: str, place: int) -> str:
    return part[part.rfind("\n", 0, place) + 1 : place]


def _left_over(read: list[Sentence], options: str) -> Claim | None:
    """Return the only option that is not rejected, where the reply goes through all and ends by naming it."""
    named = [mention for sentence in read for mention in sentence.mentions]
    rejected = {label for mention in named if mention.status == Status.REJECTED for label in mention.labels}
    left = [mention for mention in named if not set(mention.labels) & rejected]
    if len(rejected) != len(options) - 1 or len(options) < 3 or not left or not read[-1].mark:
        return None
    return Claim(left[-1].labels, left[-1].start, left[-1].end, Weight.CONCLUDED)
