"""When a statement is none: conditions, questions, what others think; and when one is taken back."""

from __future__ import annotations

import itertools
import re

RETRACTION = re.compile(
    r"(?i:\b(?:wait|no[,.:]|nope|actually|sorry|correction|scratch that|on (?:second thought|reflection)|hold on|oops|my mistake"
    r"|let me (?:correct|rethink|reconsider|redo|recheck)|made an? (?:\w+ )?(?:mistake|error|slip)|misread|should have been"
    r"|hmm+|oh|edit|update|I meant"
    r"|(?:chang|switch|revis|updat|mov)\w+ (?:my|the|it|this|that|from|over|to)"
    r"|I take (?:that|it) back|corrected|instead)\b)|(?:wait|no)\s*[—–-]|不对|更正|等等|等一下|错了|修正|应改为|改(?:选|为|成)"
)
"""Words that let a weaker statement replace the one before."""

_WRONG = (
    r"(?:not (?:\w+ )?(?:right|correct|it|true|valid)|wrong|incorrect|a (?:mistake|typo|slip)|mistaken|impossible|right\?"
    r"|off by|too (?:large"
    r"|small|high|low|big)|invalid)"
)
WITHDRAWN = re.compile(
    r"(?i:\b(?:wait|no|nope|actually|hmm+|hold on|oops|sorry|oh|argh|but)\b[,.!:…\s—–-]*(?:\w+[,.\s]+){0,3}?"
    r"(?:that|this|it|the above|my answer|mine)(?:'s| is| was| can't be| cannot be| isn't| must be| seems| looks)\s+(?:\w+\s)??"
    rf"(?:{_WRONG}|(?:(?<=n't )|(?<=n't be )|(?<=not be ))(?:right|correct))"
    rf"|(?<=[.!?\n}}])[\s\W]*(?:that|this|it)(?:'s| is| was| can't be| cannot be) {_WRONG}"
    r"|\b(?:scratch|scrap|discard|ignore|disregard|forget|strike) (?:that|this|it|my|the (?:(?:above|last"
    r"|previous) (?:answer|result|value"
    r"|number|one|line|box|part)|above|answer|box)\b)\b"
    r"|\b(?:wait|no|nope|actually|hmm+)\b[,.:!…\s—–-]+(?:that|this|it) (?:fails|breaks|contradicts|doesn't|does not)\b"
    r"|\bbut\b[^.;\n]{0,30}\b(?:it|this|that) (?:fails|contradicts|(?:does not|doesn't) (?:satisfy|work|hold|check|fit|match))\b"
    r"|\b(?:that|this|it) (?:is|was) (?:with|using|based on|from) (?:the|an?) (?:wrong|incorrect|false)\b"
    r"|\b(?:wait|no|oops|hmm+)\b[,.:!…\s—–-]+I (?:forgot|missed|misread|overlooked|miscounted|used the wrong)\b"
    r"|\bI (?:have|can give|can offer|can state|am left with) no (?:final )?answer|\b(?:don't|do not) have an? (?:final )?answer"
    r"|\bI (?:hereby )?(?:retract|withdraw|take (?:that|it|this|my answer) back|was wrong|need to (?:redo|rethink|recompute"
    r"|recalculate"
    r"|recheck|start over)|(?:must|have to|'d have to|would have to) (?:redo|rethink|recompute|recalculate|start over)"
    r"|no longer (?:think|believe))\b"
    r"|\b(?:that|this|the above|my|the (?:answer|value|box|result))(?: answer| result| value| box| number)?(?: above)?"
    r" (?:is|was|must be) (?:withdrawn|retracted|void|mistaken)\b)"
    r"|(?:^|[,。.;!?\s$}])(?:哦|啊)?(?:不对|等等|等一下|错了)|(?:我|上面|前面|刚才|以上)[^。\n]{0,10}(?:错了|有误|算错"
    r"|看错|搞错|作废)|(?:撤回|收回)",
    re.MULTILINE,
)
"""What takes the last statement back without giving another."""

UPHELD = re.compile(
    r"(?i:\b(?:stands?|still (?:holds?|correct|right)|(?:is|was|it's|that's|I was) (?:actually )?(?:fine|right|correct"
    r"|ok)(?!\s*\?)(?<!n't right)"
    r"|(?:stick|stay|go) with (?:it|that|my)|remains? (?:the same|unchanged|valid)|confirmed|holds up)\b)|没错|不变"
    r"|仍然成立|还是对的"
)
"""What lets the statement stand after all."""


def withdrawn(part: str, end: int) -> int | None:
    """Return where a withdrawal of the statement that ends at `end` is over; None where it stands."""
    last = max((found.end() for found in WITHDRAWN.finditer(part, end)), default=None)
    upheld = UPHELD.search(part, last) if last is not None else None
    return None if upheld and not NEGATION.search(part, max(last or 0, upheld.start() - 20), upheld.start()) else last


def denied(part: str, start: int, end: int) -> bool:
    """Return whether second thoughts after [start, end) deny what stands there."""
    stated, doubt = re.escape(part[start:end].strip()), RETRACTION.search(part, end)
    if not doubt or len(stated) > 80:
        return False
    wrong = r"[^.;\d]{0,15}\b(?:is|can|was)(?:n't|not| (?:therefore |thus )?(?:not|wrong|incorrect))\b"
    return bool(re.search(rf"(?<![\d.\w]){stated}(?![\d.]*\d|\w){wrong}", part[doubt.end() :]))


NEGATION = re.compile(r"(?i:\b(?:not|never|isn't|cannot|can't|wasn't|aren't|n't)\b)|n't\b|不是|并非|而非|不等于|不可能")
SENTENCE = re.compile(
    r"\.(?!\d)|[;:!?\n。；！？]|,?\s\b(?:which (?:makes|means)|so|therefore|thus|hence)\b|, but\b|所以|因此|故|但|不过|然而"
)
SENTENCE_END = re.compile(r"\.(?!\d)|[;!?\n。；！？]")
CONDITION = re.compile(
    r"(?i:\b(?:if(?!\s+(?:I (?:had|have|must)|forced|pressed))|unless|whether|suppos(?:e|ing)|assume|imagine|at first|initially"
    r"|originally|e\.g|for example|format|form of|lines?"
    r"|which (?:of|one|option)|according to (?:some|many|others))\b)|如果|假如|假设|是否|若|一开始|起初"
)
CLAUSE = re.compile(r",|，|\bbut\b|而是")
OTHERS = re.compile(
    r"(?i:\b(?:not|n't|never|cannot|can't|don't|doesn't|doubt|nor|neither|none|instead of|rather than|some(?:one|body)?|others"
    r"|people|students?|many"
    r"|they|you (?:may|might|could|would|will)|he|she|said|says|claims?|argue[sd]?|assuming|might|could|tempting|the user"
    r"|(?:my|your) (?:teacher|friend|colleague|brother|sister)"
    r"|(?:wrong|incorrect|trap|decoy|previous|earlier|your|their|his|her|student's|first|second|another|other)\s+(?:answer"
    r"|choice|guess|pick))\b)"
    r"|n't\b|很多人|有人|有些|同学|容易|不是|并非|误[选以认]|还是|未必|难说|难以|[甲乙丙丁]|小[明红华刚]|不能说|不一定"
    r"|并不|可能|不(?:应|能|可|该|会|要)"
)
"""Who or what makes a statement a mention: in the same sentence before it, and in the same clause."""

INSTRUCTION = re.compile(
    r"(?i:\be\.g\b|\bform (?:asked|required|requested)|\b(?:required|requested|expected) form\b|\bfor example\b"
    r"|\bfor instance\b|\bsuch as\b|\bformat\b|\bplaceholder\b|\bcommand\b|\bsyntax\b|\btemplate\b"
    r"|\b(?:I|we)(?:'ll| will| shall| am going to|'m going to)\b[^.\n]{0,60}\b(?:put|end|finish|give|write|box|place|state"
    r"|present|close"
    r"|conclude)\b|\b(?:should|must|has to) (?:be|end|finish|appear|look|contain)\b[^.\n]{0,40}\b(?:line|form|like|box)\b"
    r"|\b(?:should|must|has to) (?:end|finish|start|begin)\b[^.\n]{0,40}\bwith\b"
    r"|\b(?:please|remember to|make sure to|always|you (?:asked|told|want)[^.\n]{0,20}) (?:put|write|give|place|end|enclose|box"
    r"|wrap|state)\b"
    r"|\b(?:last|final) line\b|\basked (?:me )?to\b)|例如|比如|格式|形如|请(?:将|把|在)|(?:放|写|填)在"
)
_SPOKEN = re.compile(r"[ \t\"'`.,$*]*(?i:format|style|的?(?:格式|形式|字样))")


def is_instruction(part: str, start: int, end: int) -> bool:
    """Return whether what stands at [start, end) only shows how an answer is to be written."""
    before = re.split(r"[!?\n。！？]|\.\s(?=[A-Z])", part[max(start - 200, 0) : start])[-1]
    return bool(INSTRUCTION.search(before) or _SPOKEN.match(part, end, end + 30))


_IF = re.compile(
    r"(?i:^\W*(?:(?:and|but|while|whereas|otherwise|in case|or)[\s,]+)*(?:if|when|assuming|suppos\w+|should|in (?:the"
    r"|that) case|in case|otherwise|under|for)\b)|^\W*(?:而|但)?(?:如果|若|假如|当|否则)"
)
_IF_AGAIN = re.compile(r"(?i:[,，]\s*(?:and |but )?(?:if|otherwise|in a)\b)|[,，](?:如果|若|按|否则)")
_ELSE = re.compile(
    r"(?i:[,;]\s*(?:otherwise|else|sonst|ansonsten|sinon|si no)\b[^.;\n\d]{0,60}\d)|[,;](?:否则|不含)[^。;\n\d]{0,30}\d"
)
_PIECE = re.compile(r"[.!?](?=\s|\Z)|[;\n。；！？]")


def is_alternative(part: str, start: int) -> bool:
    """Return whether what stands at `start` is one of several answers, each under a condition of its own."""
    cuts = [0, *(cut.end() for cut in _PIECE.finditer(part)), len(part)]
    pieces = [part[a:b] for a, b in itertools.pairwise(cuts)]
    own = next((piece for cut, piece in zip(cuts[1:], pieces, strict=True) if cut > start), "")
    if (second := _ELSE.search(own)) and re.search(r"\d", own[: second.start()]):
        return True
    if not _IF.search(own):
        return False
    return sum(bool(_IF.search(piece)) for piece in pieces) + len(_IF_AGAIN.findall(own)) > 1


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
