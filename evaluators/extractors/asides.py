"""When a box is an aside: what others say, what would be wrong, what is not asked."""

from __future__ import annotations

import re

_MISTAKE = re.compile(
    r"(?:\b(?:an?|the|one) (?:wrong|incorrect|careless|naive) \w+ (?:would|gives?|leads?|yields?|might)\b|\b(?:mistake"
    r"|error|wrongly|mistakenly|pitfall)\b|\b(?:some|many|one|people|students)\b[^.]{0,30}\bwould\b)|误|易错"
)
_NOT_SO = re.compile(
    r"[\s$,)—–-]*(?i:is what (?:the|my|your|some)\b|is what i (?:said|wrote|gave|had|stated|boxed)\b[^.\n]*\b(?:wrong|incorrect"
    r"|mistaken|not (?:right|correct))|where\s+\$?(?P<name>[a-z])\$? is\b|(?:which|this|that|it)?\s*(?:is"
    r"|would be|was)(?:n't|\s+not|\s+therefore not)?\s*(?:wrong|incorrect"
    r"|mistaken|withdrawn"
    r"|retracted|void|obsolete)\b|(?:which|this|that|it)?\s*(?:is|would be|was)(?:n't|\s+not)\s+(?:correct|right)\b)"
)
_OTHERS = re.compile(
    r"(?:\b(?:answer key|key|book|textbook|manual|solution sheet|(?:my|your|the|a) (?:friend|teacher|student|classmate"
    r"|colleague|user|other model)|someone|he|she|they)\b[^.!?\n]{0,40}"
    r"\b(?:prints?|printed|gives?|gave|says?|said|lists?|listed|shows?|showed|has|had|claims?|claimed|states?|stated|writes?"
    r"|wrote|got|reports?|reported|boxed|marks?|marked)\b[^.!?\n]{0,20}\Z)"
    r"|(?:参考答案|答案|书上|课本|同学|老师|有人)[^。\n]{0,12}(?:给出|写|是|为|说|印)[^。\n]{0,6}\Z"
)
"""Who else puts a value in a box."""
_THEIRS = re.compile(
    r"(?:(?:\b(?:student|textbook|book|teacher|user)'s(?: \w+){0,4}:|\bthe (?:textbook|book|key|manual|forum|teacher|user"
    r"|author)'s(?: \w+){0,4}"
    r"|\b(?:you|someone|somebody|people|the (?:\w+ )?(?:book|textbook|key|manual|forum|sheet|user|student|teacher"
    r"|thread|post))"
    r" (?:\w+ )?(?:quoted?|propos\w+|suggest\w*|claim\w*|post\w*|print\w*|wrote|said|says|answered|stated?s?|lists?|listed|boxed)"
    r"(?:(?!\b(?:so|hence|thus|but|and)\b)[^.:;=\n]){0,30}),?|\b(?:let|define))\Z"
    r"|(?:网上|书上|课本)[^。，；：\n]{0,12}\Z|(?:同学|老师|有人|[你您他她])[^。，；\n]{0,8}(?:给出|写|说|印|认为|觉得"
    r"|提[出到])[^。，；\n]{0,6}\Z|[设令记]\Z"
)
"""What makes it the box of somebody else, or the name of something."""
_WHICH_IS_THEIRS = re.compile(
    r"[\s$,)]*(?i:(?:which|that|as) (?:your|his|her|their|the (?:book|textbook|key|user|teacher|forum|other)|you|he|she|they"
    r"|some|many)\b"
    r"[^.;\n]{0,30}?\b(?:had|has|got|gave|gives|wrote|said|says|claimed?s?|found|suggest\w*|propos\w*|mention\w*|quoted?|posted)\b)"
    r"|[\s$,，)]*(?:这?是)(?:你|您|他|她|书上|同学|老师)"
)
_NOT_ASKED = re.compile(
    r"[\s$.,;，)—–-]*(?i:(?:but |although |though )?(?:that|this|which|it)(?:'s| is|,? however, is)?(?: not|n't| isn't| wasn't"
    r"| was not)"
    r"(?: \w+)? (?:what (?:is|was|we|the|you)|asked|wanted|the question|relevant)|(?:aber )?(?:das|danach) (?:ist|war"
    r"|wird) (?:hier )?nicht"
    r" (?:gefragt|die frage)|(?:mais )?ce n'est pas (?:ce qu|demandé|la question)|(?:pero )?(?:eso )?no es lo que"
    r"|(?:ma )?non è (?:quello|ciò"
    r"|richiesto)|(?:mas )?(?:isso )?não é (?:o que|pedido)|(?:но )?это не то, что|но (?:это|об этом) не спраш)"
    r"|[\s$.,;，。)]*但(?:这|题目|本题)[^。\n]{0,8}(?:不是|没有?|并非)[^。\n]{0,6}[问求]"
)
"""Saying that it answers another question."""
_THEIR_FAULT = re.compile(
    r"[^.!?\n。]{0,60}?(?i:\b(?:wrong|incorrect|mistaken|a (?:mistake|misprint|typo)|an error|cannot be right|can't be right"
    r"|not (?:correct|right|true))\b|不对|错误|有误|错了)"
)
_NOT = re.compile(
    r"(?:(?:\bnot|\bnicht|\bet non|\by no|\be não|\bа не|\brather than|\binstead of|\bscrap (?:that|the)|\b(?:retract|withdraw"
    r"|take back|disregard)\b[^.\n]{0,20})\Z)"
    r"|(?:不是|而非|并非)\Z"
)


_SEEN_OR_THOUGHT = re.compile(
    r"^(?!.*\b(?:but|however|right|correct|so|hence|thus|therefore)\b).*(?:"
    r"\b(?:one|some|you|we|people|students) (?:could|might|may|can) (?:\w+ )?(?:think|believe|suppose|guess|be tempted)\b"
    r"|\b(?:in|from) (?:an? |the |some )?(?:\w+ )?editions?\b|\b(?:on|from) (?:the )?(?:internet|web|forums?)\b"
    r"|\byou (?:may|might) have (?:seen|read|found|heard)\b|\btempting\b|\bman könnte (?:meinen|denken)|\bon (?:pourrait"
    r"|peut) (?:croire|penser)|\bse podría pensar"
    r"|\bsi potrebbe pensare"
    r"|\bpoderia-se pensar|\bможно (?:было бы )?подумать)|可能会(?:认为|以为|得)"
)
"""What leads to a value that is seen elsewhere, or that one might think of."""


def is_elsewhere(lead: str) -> bool:
    """Return whether the sentence before a box, in lower case, speaks of what is seen elsewhere or might be thought."""
    return bool(_SEEN_OR_THOUGHT.search(lead))


def is_aside(part: str, start: int, end: int, lead: str) -> bool:
    """Return whether a box shows what somebody else says, what would be wrong, or what holds under another condition.

    Args:
        part: the view of the reply.
        start: where what the box holds begins.
        end: where that ends.
        lead: the sentence before the box, in lower case.
    """
    denied = _NOT_SO.match(part, end + 1)
    if denied and denied["name"] in (None, part[start:end].strip()):
        return True
    if _WHICH_IS_THEIRS.match(part, end + 1) or _NOT_ASKED.match(part, end + 1):
        return True
    theirs = _THEIRS.search(lead) or (_THEIR_FAULT.match(part, end + 1) and _OTHERS.search(lead))
    return bool(theirs or _MISTAKE.search(lead) or _NOT.search(lead))
