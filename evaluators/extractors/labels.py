"""Where a reply names options, and what the clause round each says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from evaluators.extractors import cues
from evaluators.extractors import readings as words

_LATEST = 100
"""How many groups of labels are looked at in a sentence, from its end."""
_STOP = re.compile(
    r"(?<![\n(\[][A-Z])(?<!\A[A-Z])(?<![A-Z]\.\s[A-Z])(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\b[DM]r)\.(?=\s|\Z"
    r"|[\"')\]])(?!\s?[A-Z]\.\s?[A-Z])|[!?\n。！？；]|;(?=\s)"
)
_CLAUSE = re.compile(
    r"[,，:()（）—–]|\s-\s|->|=>|→|⇒|∴"
    r"|(?i:\b(?:but|while|whereas|although|though|because|since|so(?! (?:is|are|was|does|do)\b)|therefore|thus|hence|yet"
    r"|which|that|as(?! (?:for|to)\b)|if|unless|when|where|denn|weil"
    r"|aber|mais|car|parce|pero|porque)\b|\band(?= (?:so|thus|then|therefore|it|that|I|we|he|she|this)\b))"
    r"|而是|而(?!且|非|不)|但|因为|由于|所以|因此|故|则(?!是)|可是|不过"
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
_PREPOSED = (
    "as|here|for|because|since|with|in|at|on|from|instead|then|too"
    "|over|and|or|but|if|after|by|overall|based|rather|not|now|anyway"
    "|please|und|et|y|o"
)
_TOLD = re.compile(
    rf"\s*[)\]\"']*\s+(?!(?:{_PREPOSED})\b)[a-z]|\s*(?:选项|项)[一-鿿]"
    rf"|\s*(?![就啊呢哦啦呀选项是才吧了最更没因而为符正对与和这那即也不错均都则入])[一-鿿]"
    rf"|\s*[)\]]?(?:选?项)?\s*:|\s*选?项\s*,"
)
"""Words after a label that say something of it."""
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
_BUT_NOT = re.compile(r"(?i:\W*(?:\w+\s+){1,3}not\b|[^,;.]{0,30},? but (?:it )?(?:is(?:n't| not)|'s not|does(?:n't| not)|fails)\b|[^,;]*\b(?:at first|initially)\b)")
_AT_FIRST = re.compile(r"(?i:\bat first\b(?! (?:glance|sight))|\binitially\b)")
_BEFORE_THAT = re.compile(r"(?i:\b(?:initially|at first|originally|earlier|first (?:thought|guess|impression|instinct))\s*:\s*\(?\Z)")
_NOT_THIS = re.compile(r"(?i:^\W*not (?:option )?\(?)\Z")
QUOTED = re.compile(r"\"[^\"]*\"")
_JOINT = re.compile(r"\b(?:and|or|nor)\b")
_CONTRAST = re.compile(
    r"(?:而(?:不是|非)|,?\s*(?:and )?(?:not|rather than|instead of)\s*\(?\Z|[)\]\s]*,\s*(?:and )?(?:not|rather than|instead of)"
    r"\s+(?!(?:right|correct|true|valid|only|a|an|just|\w+ed|\w+ing)\b))"
)
_LEADING = re.compile(
    rf"(?:[:：→⇒∴]|-{{1,2}}>|=>|\b(?i:so|thus|hence|therefore|ergo"
    rf"|consequently)\b,?)[\s(\[\"']*(?:{words.OPTION_WORD})?[\s(\[\"']*\Z"
)
"""A colon or an arrow before a label."""
_MARKED = re.compile(r"\s*[).]\s+\S")
"""A label as it stands before its option's text."""
_TICKS = "✅✓✔☑√"
_MARK = re.compile(rf"\W*([{_TICKS}❌✗✘✖×])\W*")
_FOREIGN = r"[\s)]*(?:,|,?\s*\b(?:and|or|with|to|from)\b|[-–&/])\s*(?!I\b|{0})[A-Z]\b(?!\.\s|')"
"""A capital that is no label, beside one: both name something else."""
_HAN_NAME = re.compile(r"(?![就啊呢哦啦呀选项是才吧了最更没因而为符正对与和这那即也不错均都则入])[一-鿿]")
"""A Chinese noun that the label belongs to."""
_KEY = re.compile(r"\"\s*:|:\\")
_VALUE = re.compile(r"\"\s*:\s*\"\Z")
_LED = (
    "so|thus|then|and|or|but|now|next|here|hence|therefore|only|also|both|neither|either|clearly|however|yes|no|well|ok"
    "|okay|the|der|die"
    "|das|la|le|les|el|first|second|finally|since|because|consequently|accordingly|while|whereas|in"
)
_SUBJECT = re.compile(rf"\A[\W\d_]*(?:(?i:{_LED})\b[\s,(\"']*)*(?:{words.OPTION_WORD})?[\s(\"'\[]*\Z")
_NOUN = re.compile(
    rf"\A\W*(?:(?i:the|a|an)\s+)?(?!(?i:{_LED}|of these|with|under|by|from|for|to|at|of|on|without"
    rf"|given)\b)[A-Za-z]+(?<!ly)\s\Z"
)


_AS_OPTION = re.compile(
    r"(?i:\b(?:candidate|version|response|translation|reading|interpretation|hypothesis|conclusion|summary|word|phrase|passage|text|ending"
    r"|explanation|argument|title|definition|description|image|picture|diagram|story|proposal|overall|still|yet|indeed|instead|maybe|perhaps"
    r"|even|though|although|when|if|as|otherwise|again|unlike|sure|right|that|this|it|what|think|believe|say|guess|means|makes|leaves"
    r"|leaving|pick|choose|select)\s\Z)|"
    + words.OPTION_WORD
    + r"\Z"
)
"""A word before a label that calls it an option, or that is no noun."""
_JUDGED = re.compile(r"[^.;,]{0,60}\b(?:correct|right|answer|choice|best|true|false|wrong|match\w*|fits?)\b")


class Status(IntEnum):
    """What a clause does with a label; the order is that of strength."""

    REJECTED = -1
    NAMED = 0
    """It is the subject of a description, an item of a list, or the name of something else."""
    POINTED = 1
    """It stands where a sentence puts its news, and nothing turns it down."""
    LED = 2
    """A colon, an arrow or a copula leads to it at the end of a sentence."""
    FAVOURED = 3
    """The clause says that it is right, or singles it out."""


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
        status = _status(before, after)
        if not place and (mark := _MARK.fullmatch(before)):
            status = Status.FAVOURED if mark[1] in _TICKS else Status.REJECTED
        if previous == Status.NAMED and status in (Status.POINTED, Status.LED) and not _CLAUSE.search(before):
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


def _status(before: str, after: str) -> Status:
    """Return what a clause does with a label, from the text before it and after it."""
    lead, tail = _clause_before(before), _clause_after(after)
    copula = words.COPULA.search(lead)
    if _NOUN.search(before) and not _AS_OPTION.search(before) and not _JUDGED.match(after) and _TOLD.match(after):
        return Status.NAMED
    if words.FAVOURS_AFTER.search(after) and not _BUT_NOT.match(after):
        return Status.REJECTED if words.DENIES.search(QUOTED.sub("", before[-60:])) else Status.FAVOURED
    contrast = _CONTRAST.match(after)
    if not contrast and (words.REJECTS_AFTER.search(tail or after[:40]) or _AT_FIRST.search(tail)):
        return Status.REJECTED
    if _BEFORE_THAT.search(before):
        return Status.REJECTED
    if words.ONLY_BEFORE.search(lead):
        return Status.FAVOURED
    turned = (words.DENIES_SUBJECT if copula else words.REJECTS_BEFORE).search(lead)
    if turned and not (words.LOOKS_AT.search(turned[0]) and words.CHOOSES.search(lead, turned.start() + 3)):
        return Status.REJECTED
    if _LEADING.search(before) and _MARKED.match(after):
        return Status.LED
    told = _TOLD.match(after)
    near = _JOINT.split(_CLAUSE.split(before)[-1])[-1]
    if _HAN_NAME.match(after) or (told and (_SUBJECT.search(near) or _NOUN.search(near))):
        return Status.NAMED
    led = copula or _LEADING.search(before)
    return Status.LED if led and (not told or not tail.strip(" )\"'].")) else Status.POINTED


def _clause_before(before: str) -> str:
    """Return what stands before a label in its clause; a bracket that holds only the label is looked through."""
    cuts = [0, *(cut.end() for cut in _CLAUSE.finditer(before))]
    bracketed = not before[cuts[-1] :].strip(" \"'[") and before.rstrip(" \"'").endswith(("(", "（"))
    return before[cuts[-2] :] if bracketed and len(cuts) > 1 else before[cuts[-1] :]


def _clause_after(after: str) -> str:
    stops = (cut.start() for cut in _CLAUSE.finditer(after) if after[: cut.start()].strip(" )\"'].,") or cut[0].isalpha())
    return after[: next(stops, len(after))]
