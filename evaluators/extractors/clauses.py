"""What the clause round a label does with it."""

from __future__ import annotations

import re
from enum import IntEnum

from evaluators.extractors import readings as words

CLAUSE = re.compile(
    r"[,，:()（）—–]|\s-\s|->|=>|→|⇒|∴"
    r"|(?i:\b(?:but|while|whereas|although|though|because|since|so(?! (?:is|are|was|does|do)\b)|therefore|thus|hence|yet"
    r"|which|that|as(?! (?:for|to)\b)|if|unless|when|where|denn|weil"
    r"|aber|mais|car|parce|pero|porque)\b|\band(?= (?:so|thus|then|therefore|it|that|I|we|he|she|this)\b))"
    r"|而是|而(?!且|非|不)|但|因为|由于|所以|因此|故|则(?!是)|可是|不过"
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
_BUT_NOT = re.compile(
    r"(?i:\W*(?:\w+\s+){1,3}not\b|[^,;.]{0,30},? but (?:it )?(?:is(?:n't| not)|'s not|does(?:n't| not)|fails)\b"
    r"|[^,;]*\b(?:at first|initially)\b)"
)
_AT_FIRST = re.compile(r"(?i:\bat first\b(?! (?:glance|sight))|\binitially\b)")
_BEFORE_THAT = re.compile(
    r"(?i:\b(?:initially|at first|originally|earlier|first (?:thought|guess|impression|instinct))\s*:\s*\(?\Z)"
)
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
_HAN_NAME = re.compile(r"(?![就啊呢哦啦呀选项是才吧了最更没因而为符正对与和这那即也不错均都则入])[一-鿿]")
"""A Chinese noun that the label belongs to."""
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
    r"(?i:\b(?:candidate|version|response|translation|reading|interpretation|hypothesis|conclusion|summary|word|phrase"
    r"|passage|text|ending"
    r"|explanation|argument|title|definition|description|image|picture|diagram|story|proposal|overall|still|yet|indeed"
    r"|instead|maybe|perhaps"
    r"|even|though|although|when|if|as|otherwise|again|unlike|sure|right|that|this|it|what|think|believe|say|guess|means"
    r"|makes|leaves"
    r"|leaving|pick|choose|select)\s\Z)|" + words.OPTION_WORD + r"\Z"
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


def status_of(before: str, after: str) -> Status:
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
    near = _JOINT.split(CLAUSE.split(before)[-1])[-1]
    if _HAN_NAME.match(after) or (told and (_SUBJECT.search(near) or _NOUN.search(near))):
        return Status.NAMED
    led = copula or _LEADING.search(before)
    return Status.LED if led and (not told or not tail.strip(" )\"'].")) else Status.POINTED


def _clause_before(before: str) -> str:
    """Return what stands before a label in its clause; a bracket that holds only the label is looked through."""
    cuts = [0, *(cut.end() for cut in CLAUSE.finditer(before))]
    bracketed = not before[cuts[-1] :].strip(" \"'[") and before.rstrip(" \"'").endswith(("(", "（"))
    return before[cuts[-2] :] if bracketed and len(cuts) > 1 else before[cuts[-1] :]


def _clause_after(after: str) -> str:
    stops = (cut.start() for cut in CLAUSE.finditer(after) if after[: cut.start()].strip(" )\"'].,") or cut[0].isalpha())
    return after[: next(stops, len(after))]
