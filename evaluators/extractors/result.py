"""The number that the end of a reply states as its result, where no marker, box or answer phrase names one.

The last sentence that gives a quantity counts: what stands after its last equals sign, else its last number that no preposition
governs ("she gets 75 cents back from her 2 dollars"). A question, a plan, a list of data, a condition among others, or a text
that breaks off gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluators.extractors import mentions
from evaluators.extractors.numerals import NUMBER, plain_form

_REFUSAL = re.compile(
    r"(?i:\b(?:cannot|can't|can not|could not|couldn't|unable to|impossible to|not possible to"
    r"|not able to)\s+(?:be\s+)?(?:\w+\s+){0,2}?"
    r"(?:determine|answer|solve|say|tell|comput|calculat|f[io]u?nd|known|figure|give|provide|help|assist|conclude|know|decide"
    r"|share|predict)"
    r"|(?:\bnot|n't)(?: \w+)? (?:enough|sufficient)\b|\b(?:insufficient|lacks?|missing)\s+(?:\w+\s+){0,2}?(?:information|data"
    r"|details)"
    r"|(?:don't|do not|did not|didn't) (?:know|tell|say)|no (?:idea|way to)|\bnot sure\b|\bsorry\b|no (?:numerical )?answer"
    r"|(?:is|are) (?:missing|unknown)\b|(?:\bnot|n't) (?:\w+ )?(?:specif|mention|giv|stat|provid|told)\w*|\bdepend(?:s|ing)? on\b"
    r"|\b(?:need|require)s? more (?:information|data|details)|\b(?:please|could you|can you) (?:clarify|specify|tell|provide"
    r"|confirm)"
    r"|\b(?:HTTP|error|exception|traceback|overloaded|time(?:d )?out|rate limit\w*)\b|^\W*(?:retry|try again))"
    r"|无法|不能确定|不知道|抱歉|对不起|(?:信息|条件|数据)(?:不足|不够)|不足以|缺少|没有(?:给出|说明|告诉)|未(?:给出"
    r"|说明|知)|取决于|不确定|可能[^。]*也可能|请(?:提供|说明|补充)",
    re.MULTILINE,
)
_AFTER_ALL = re.compile(
    r"(?i:\b(?:so|therefore|thus|hence|altogether|in total)\b|\b(?:think|guess|estimate|I'd say)\b|=)|因此|所以|故|一共|总共"
)
_GUESS = re.compile(r"(?i:\b(?:I|we)(?:'d| would)? (?:think|guess|believe|say|estimate)\b|\bmy (?:best )?guess\b)")
_COUNTED = re.compile(
    r"(?i:\b(?:steps?|equations?|parts?|cases?|questions?|problems?|examples?|chapter|figure|table|option|method|line|round|day"
    r"|week|year|section|theorem|lemma|page|http|error(?: code)?|code)\s*#?|第)\Z"
)
_COUNTS = re.compile(r"[ ]?(?:(?:simple |easy |main )?(?i:steps|parts|cases|stages)\b|步|个步骤)")
_LIST_MARK = re.compile(r"^[ \t]*(?:[-•]\s*)?(\d+)[.):](?=\s+\S)", re.MULTILINE)
_FIRST_LINE = re.compile(
    r"\s*([-−]?\d[\d,.]*\d|[-−]?\d)[ \t]*(?:[A-Za-z%]+[ \t]*)?(?:[.]?\s*\n\s*(?i:explanation|reason|because|steps?|solution"
    r"|note|calculation|working)|\([^()\n]*\)\s*\Z)"
)
_REMARK = re.compile(
    r"(?i:\b(?:let me know|(?:I )?hope (?:this|that)|feel free|if you (?:have|need|want|would|'d)|(?:would|do) you (?:like|want))\b"
    r"|(?:^|[.!?]\s)[^\w\n]*(?:(?:sanity |double[- ]?)?check(?:ing)?|verif\w+|to (?:verify|check|double-check)|note|remark"
    r"|confidence"
    r"|p\.?s\.?|by the way|for (?:reference|comparison))\b\s*(?::|,|that\b|-|—|\())|(?:验算|检验|验证|注意?|备注|说明)[:]",
    re.MULTILINE,
)
_UNFINISHED = re.compile(
    r"[=+×÷*/?:(\[&<>~]\s*\Z|(?<=\s)[-−]\s*\Z|(?:\.\.\.|…)\s*\Z"
    r"|(?i:\b(?:by|of|the|to|and|or|is|are|was|were|an?|with|from|so|we|has|have|had|then|for|times|plus|minus|that|which|in"
    r"|but|if|get"
    r"|gives?|equals?|makes?|at|on|as|because|since|therefore|thus|hence|per|each|every|her|his|their|its|this|about|only|will"
    r"|would"
    r"|also|than|when|let|need|must)\s*\Z)|(?:所以|因此|故|则|即|得|为|是|等于|再|然后|接着|和|的|以及|共|并且|又|由|设)\s*\Z"
)
_CUT = re.compile(r"(?:,\s*(?i:and|then|so|but|which|for|we|she|he|they|with|since|because|now|if)\b|，)[^,，]{4,}\Z")
_PLAN = re.compile(
    r"(?i:^\W*(?:(?:so|now|next|first|firstly|okay|ok|alright|then|finally|sure)\b[\s,!]*)*(?:(?:we|I)\s+(?:first "
    r"|now )?(?:want to|(?:need|have) to (?:find|comput|calculat|determine|solve|know|figure|add|multiply|subtract|divide|set|look"
    r"|work|read|check))|let's"
    r"|let us|let me|let \w+ be|to (?:solve|find|answer|determine|compute|calculate|get)|the (?:question|problem|task"
    r"|exercise) (?:asks|is|states"
    r"|says|gives|wants)|(?:we|you) (?:are|were) (?:given|told|asked)|you (?:ask|want)|we know|it is given|(?:given"
    r"|known)(?: data| values?| facts)?\s*[:,]|suppose|assume"
    r"|I (?:will|would|shall|'d|'ll)|I'(?:ll|d)|I am going|we (?:will|shall|should|'ll)\b|we'll|my plan|the plan|plan:))"
    r"|^\W*(?:题目|问题是|已知|设|假设|求|条件|要(?:求|解|计算)|我们?(?:先|首先|需要|将|要|会|可以|分)|首先|首先,|下面"
    r"|接下来|步骤|解题思路|思路|让我)"
    r"|[,，]\s*(?:试)?求[^,。]*\Z|分\s*\d+\s*步|先(?:求|算|计算|求出)[^。]*(?:再|然后|最后)"
)
_RESULT = re.compile(
    r"(?i:[=≈]|, so (?!(?:we|I|let)\b)|\b(?:gets?|gives?|got|makes?|equals?|leaves?|leaving|total|result|answer)\b)|得|共|等于"
)
_LOOP = re.compile(r"(?:\d+\s*[,、]\s*){3}\Z")
_RESTED = re.compile(r"(?i:\bwould have to\b|\b(?:set up|start|redo|do)\b[^.]*\bagain\b)")
_EQUATION = re.compile(r"\d\(?[abknxyz](?![A-Za-z])|(?<![A-Za-z\\{])[abknxyz]\s*[-+−*/^·]\s*[\w(]|[-+−*/·]\s*[xyz](?![A-Za-z])")
_GIVEN = re.compile(
    r"(?i:^[^\w\n]*(?:given|known|data|facts?|information|what (?:we know|is known|is given)|inputs?|we (?:have"
    r"|know))\b[^\n:.=]{0,30}:[ \t]*$)"
    r"|^\W*(?:已知|条件|数据|题目)[^\n]{0,10}:[ \t]*$",
    re.MULTILINE,
)
_ROW = re.compile(r"^[ \t]*(?:[-•|]|\d+[.)][ \t])[^\n]*\d[^\n]*$", re.MULTILINE)
_SUMMED = re.compile(
    r"(?i:[=≈✓✔]|\b(?:totals?|sums?|altogether|in all|answer|results?|so|therefore|thus|hence|final\w*|overall|left|remain\w*"
    r"|makes?|gives?|gets?"
    r"|leav\w+|state)\b)|合计|总|共|结果|答|所以|因此|剩"
)
_SO = re.compile(r"(?i:[,;]\s*(?:so|thus|hence|therefore|and so|which means)\b)|[,;](?:所以|因此|故)")
_REASON = re.compile(r"(?i:\b(?:because|since|as)\b)|因为")
_WORD = r"(?:(?!(?:is|are|was|were|be|total|all|fact|sum|average|get|gets|gives|makes|there|have|has|has|we)\b)[A-Za-z']+\s+)?"
_ADJUNCT = re.compile(
    r"(?i:(?<!total )(?<!sum )(?<!average )(?<!area )(?<!number )(?<!value )(?<!speed )(?<!cost )(?<!amount )(?<!length )"
    r"(?<!price )"
    r"(?<!volume )(?<!mean )(?<!ratio )(?<!rate )(?<!profit )(?<!difference )(?<!product )(?<!maximum )(?<!minimum )(?<!distance )"
    r"\bof|\b(?:for|from|per|in|at|after|before|by|with|within|without|than|on|until|since|between|during|through|over"
    r"|under|every|each"
    r"|pro|für|von|mit|nach|aus|bei|pour|de|avec|par|para|con|en"
    r"|to (?!get|make|give|obtain|be|find|have|yield|equal|reach)[a-z]+))\s+" + _WORD + r"[€£¥₹$]?\s*\Z"
)
_CHINESE = re.compile(r"(?:是|为|得到?|共|需要?|剩下?|有|等于|约|花了?|付了?|即|还|要|用了?)\s*(?:大?约|了)?\s*[€£¥₹$]?\s*\Z")
_STOP = re.compile(
    r"(?<!\bRs)(?<!\bNo)(?<!\bapprox)(?<!\bca)(?<!\bvs)(?<!\bi\.e)(?<!\be\.g)(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\betc)"
    r"[.!?](?=\s|\Z|[\"')])|[。;\n]"
)


def stated_result(part: str, bold: str) -> re.Match[str] | None:
    """Return the number that the end of a reply states; one in bold in its last paragraph before others.

    Args:
        part: the plain view of the reply.
        bold: the same with all but its bold text as blanks.
    """
    if stated := _FIRST_LINE.match(part):
        return NUMBER.match(part, stated.start(1))
    remark = next((m for m in _REMARK.finditer(part) if NUMBER.search(part, 0, m.start())), None)
    part = part[: remark.start() + 1].rstrip(" \n(") if remark else part.rstrip()
    if _UNFINISHED.search(part[-40:]) or _refuses(part):
        return None
    listed = {mark.start(1) for mark in _LIST_MARK.finditer(part)}
    paragraph = part.rfind("\n\n") + 1
    marked = [m for m in NUMBER.finditer(bold, paragraph, len(part)) if m.start() not in listed]
    if marked:
        return None if _open(part, marked[-1].start()) else marked[-1]
    return _from_sentences(part, listed)


def _refuses(part: str) -> bool:
    refusals = list(_REFUSAL.finditer(part))
    if not refusals:
        return False
    concluded = _AFTER_ALL.search(part, refusals[-1].end()) or _GUESS.search(part, 0, refusals[-1].start())
    return not (concluded and NUMBER.search(part, concluded.start()))


def _from_sentences(part: str, listed: set[int]) -> re.Match[str] | None:
    """Return the number of the last sentence that gives a quantity; one that only dates or locates counts where no other does."""
    weak: re.Match[str] | None = None
    last = True
    for start, end in _sentences(part):
        sentence = part[start:end]
        numbers = [n for n in NUMBER.finditer(part, start, end) if n.start() not in listed and not _counted(part, n)]
        if not numbers:
            if last and (mentions.WITHDRAWN.search(sentence) or _RESTED.search(sentence) or _is_plan(sentence)):
                return None
            continue
        if last and (part[end : end + 1] == "?" or (_CUT.search(part[numbers[-1].end() : end]) and end == len(part))):
            return None
        last = False
        if _open(part, numbers[-1].start()) or part[end : end + 1] == "?":
            return weak
        chosen, firm = choose(part, numbers, start, end)
        if firm or (chosen is None and weak is None):
            return chosen
        weak = weak or chosen
    return weak


def _sentences(part: str) -> Iterator[tuple[int, int]]:
    """Yield [start, end) of each sentence, the last one first; its full stop is no part of it."""
    cuts = [-1, *(stop.start() for stop in _STOP.finditer(part)), len(part)]
    for before, end in zip(reversed(cuts[:-1]), reversed(cuts[1:]), strict=True):
        if part[before + 1 : end].strip():
            yield before + 1, end


def _counted(part: str, number: re.Match[str]) -> bool:
    return bool(_COUNTED.search(part[max(number.start() - 20, 0) : number.start()]) or _COUNTS.match(part, number.end()))


def _is_plan(sentence: str) -> bool:
    return bool(_PLAN.search(sentence) and not _RESULT.search(sentence))


def _open(part: str, place: int) -> bool:
    """Return whether the sentence round `place` concludes nothing: a plan, data, a row among rows, or one case of several."""
    start = max((stop.end() for stop in _STOP.finditer(part, max(place - 400, 0), place)), default=max(place - 400, 0))
    end = next((stop.start() for stop in _STOP.finditer(part, place)), len(part))
    paragraph = part.rfind("\n\n", 0, place) + 1
    line = part[part.rfind("\n", 0, place) + 1 : end]
    heads = [head for head in _GIVEN.finditer(part, paragraph, place)]
    rows = _ROW.match(line) and len(list(_ROW.finditer(part, paragraph))) > 1 and not _SUMMED.search(line)
    told = _is_plan(part[start:end]) or mentions.is_instruction(part, place, place) or _LOOP.search(part[start:end])
    return bool(told or heads or rows or mentions.is_alternative(part, place))


def choose(part: str, numbers: list[re.Match[str]], start: int, end: int) -> tuple[re.Match[str] | None, bool]:
    """Return which of a sentence's numbers it states, and whether as more than a circumstance; None where it states none."""
    start = max((mark.end() for mark in _SO.finditer(part, start, end) if mark.end() <= numbers[-1].start()), default=start)
    numbers = [n for n in numbers if n.start() >= start]
    reason = next((m.start() for m in _REASON.finditer(part, start, end) if any(n.start() < m.start() for n in numbers)), end)
    numbers = [n for n in numbers if n.start() < reason]
    end = reason
    standing = [n for n in numbers if not mentions.NEGATION.search(_clause(part[start : n.start()])[-25:])]
    outside = [n for n in standing if not _in_brackets(part[start : n.start()])] or standing
    sign = max(part.rfind("=", start, end), part.rfind("≈", start, end))
    after = [n for n in outside if n.start() > sign] if sign >= 0 else []
    if after:
        left = re.split(r"[=≈,;:]|\b(?:so|then|thus|and|is)\b", part[start:sign])[-1]
        return (None, False) if _EQUATION.search(left) and "\\lim" not in left else (after[0], True)
    if re.search("[一-鿿]", part[start:end]):
        said = [n for n in outside if _CHINESE.search(part[start : n.start()])]
        return next(reversed(said or outside), None), bool(outside)
    objects = [n for n in outside if not _ADJUNCT.search(part[start : n.start()])]
    if objects:
        return objects[-1], True
    return (outside[-1] if len({plain_form(n) for n in outside}) == 1 else None), False


def _clause(before: str) -> str:
    return re.split(r"[,，;]|\b(?:but|because|since|so)\b|而是", before)[-1]


def _in_brackets(before: str) -> bool:
    return before.count("(") > before.count(")")
