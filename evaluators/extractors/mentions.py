"""When a statement is none: conditions, questions, what others think; and when one is taken back."""

from __future__ import annotations

import re

RETRACTION = re.compile(
    r"(?i:\b(?:wait|no[,.]|actually|sorry|correction|scratch that|on second thought|hold on|oops|my mistake|let me correct"
    r"|made an? (?:mistake|error))"
    r")|不对|更正|等等|等一下"
)
WITHDRAWN = re.compile(
    r"(?i:\b(?:wait|no|actually|hmm|hold on|oops)\b[,.!\s—–-]*(?:\w+[,.\s]+){0,2}?(?:that|this|it)(?:'s| is| was| can't be"
    r"| cannot be)"
    r"\s+(?:not (?:right|correct)|wrong|incorrect|right\?))"
)
"""What takes the last statement back without giving another."""

SENTENCE = re.compile(r"\.(?!\d)|[;:!?\n。；！？]|,?\s\b(?:so|therefore|thus|hence)\b|, but\b|所以|因此|故|但|不过|然而")
CONDITION = re.compile(
    r"(?i:\b(?:if(?!\s+(?:I (?:had|have|must)|forced|pressed))|unless|whether|suppos(?:e|ing)|assume|imagine|at first|initially"
    r"|originally|e\.g|for example|format|form of|lines?"
    r"|which (?:of|one|option)|according to (?:some|many|others))\b)|如果|假如|假设|是否|若|一开始|起初"
)
CLAUSE = re.compile(r",|，|\bbut\b|而是")
OTHERS = re.compile(
    r"(?i:\b(?:not|n't|never|cannot|can't|don't|doesn't|doubt|nor|neither|instead of|rather than|some(?:one|body)?|others"
    r"|people|students?|many"
    r"|they|you (?:may|might|could|would|will)|he|she|said|says|claims?|argue[sd]?|assuming|might|could|tempting"
    r"|(?:wrong|incorrect|trap|decoy|previous|earlier|your|their|his|her|student's|first|second|another|other)\s+(?:answer"
    r"|choice|guess|pick))\b)"
    r"|n't\b|很多人|有人|有些|同学|容易|不是|并非|误[选以认]|还是|未必|难说|难以|[甲乙丙丁]|小[明红华刚]|不能说|不一定|并不|可能|不(?:应|能|可|该|会|要)"
)
"""Who or what makes a statement a mention: in the same sentence before it, and in the same clause."""


_NOUN = re.compile(r"(?i:answers?|choice|guess|pick)\b")


def is_mention(text: str, start: int, value: int, end: int) -> bool:
    """Return whether a statement is only talked about: in a condition, in a question, or as what others might think.

    Args:
        text: the view of the reply.
        start: where the statement begins.
        value: where what it states begins.
        end: where that ends.
    """
    before, stated = text[max(start - 300, 0) : start], text[start:value]
    sentence = SENTENCE.split(before)[-1] + stated
    clause = CLAUSE.split(SENTENCE.split(before)[-1])[-1] + (_NOUN.match(stated) or [""])[0]
    open_end = re.match(r"[\s)\]}\"']*(?:(?:[^,。\n]{0,6}吗|呢|么)?\?|\s*(?:if|unless)\b|还是)", text[end : end + 20])
    quoted = text[max(start - 1, 0) : start] in ("'", '"') and not re.search(r"[\"']", stated)
    return bool(open_end or quoted or CONDITION.search(sentence) or OTHERS.search(clause))
