"""When a statement is none: an instruction, one of several answers, a condition, a question, what others think."""

from __future__ import annotations

import re

_SENTENCE = re.compile(
    r"\.(?!\d)|[;:!?\n。；！？]|,?\s\b(?:which (?:makes|means)|so|therefore|thus|hence)\b|, but\b|所以|因此|故|但|不过|然而"
)
_CONDITION = re.compile(
    r"(?i:\b(?:if(?!\s+(?:I (?:had|have|must)|forced|pressed))|unless|whether|suppos(?:e|ing)|assume|imagine|at first|initially"
    r"|originally|e\.g|for example|format|form of|lines?"
    r"|which (?:of|one|option)|according to (?:some|many|others))\b)|如果|假如|假设|是否|若|一开始|起初"
)
_CLAUSE = re.compile(r",|，|\bbut\b|而是")
_OTHERS = re.compile(
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

_INSTRUCTION = re.compile(
    r"(?i:\be\.g\b|\bform (?:asked|required|requested)|\b(?:required|requested|expected) form\b|\bfor example\b"
    r"|\bfor instance\b|\bsuch as\b|\bformat\b|\bplaceholder\b|\bcommand\b|\bsyntax\b|\btemplate\b"
    r"|\b(?:I|we)(?:'ll| will| shall| am going to|'m going to)\b[^.\n]{0,60}\b(?:put|end|finish|give|write|box|place|state"
    r"|present|close"
    r"|conclude)\b|\b(?:should|must|has to) (?:be|end|finish|appear|look|contain)\b[^.\n]{0,40}\b(?:line|form|like|box)\b"
    r"|\b(?:should|must|has to) (?:end|finish|start|begin)\b[^.\n]{0,40}\bwith\b"
    r"|\b(?:please|remember to|make sure to|always|you (?:asked|told|want)[^.\n]{0,20}) (?:put|write|give|place|end|enclose|box"
    r"|wrap|state)\b"
    r"|(?:^|[:,]\s*|\bthen )(?:write|put|give|state|send|enter|box) your (?:final )?(?:result|answer|value)\b"
    r"|\byou(?:'d| would|'ll| will) (?:write|put|box|enclose)\b|\b(?:last|final) line\b|\basked (?:me )?to\b)|例如|比如|格式"
    r"|形如|类似于?|请(?:将|把|在)|(?:放|写|填)在"
)
_SPOKEN = re.compile(r"[ \t\"'`.,$*]*(?i:format|style|的?(?:格式|形式|字样))")


def is_instruction(part: str, start: int, end: int) -> bool:
    """Return whether what stands at [start, end) only shows how an answer is to be written."""
    before = re.split(r"[!?\n。！？]|\.\s(?=[A-Z])", part[max(start - 200, 0) : start])[-1]
    return bool(_INSTRUCTION.search(before) or _SPOKEN.match(part, end, end + 30))


_IF = re.compile(
    r"(?i:^\W*(?:\d{1,2}\W+)?(?:(?:and|but|while|whereas|otherwise|in case|or)[\s,]+)*(?:if|when|assuming|suppos\w+|should"
    r"|in (?:the"
    r"|that) case|in case|otherwise|under|wenn|falls|si|se|если|при|for"
    r"(?! (?:the )?(?:\w+ )?(?:parts?|questions?|problems?|exercises?|items?"
    r"|tasks?|sub)\b))\b)"
    r"|^\W*(?:\d{1,2}\W+)?(?:而|但)?(?:如果|若|假如|当|否则)"
)
_IF_AGAIN = re.compile(r"(?i:[,，]\s*(?:and |but )?(?:if|otherwise|in a|in the case)\b)|[,，](?:如果|若|按|否则)")
_ELSE = re.compile(
    r"(?i:[,;]\s*(?:otherwise|else|sonst|ansonsten|sinon|si no)\b[^.;\n\d]{0,60}\d)|[,;](?:否则|不含)[^。;\n\d]{0,30}\d"
)
_PIECE = re.compile(r"[.!?](?=\s|\Z)|[;\n。；！？]")


def is_alternative(part: str, start: int) -> bool:
    """Return whether what stands at `start` is one of several answers, each under a condition of its own."""
    begin = max((cut.end() for cut in _PIECE.finditer(part, 0, start)), default=0)
    cut = _PIECE.search(part, start)
    own = part[begin : cut.end() if cut else len(part)]
    if (second := _ELSE.search(own)) and re.search(r"\d", own[: second.start()]):
        return True
    if not _IF.search(own):
        return False
    return sum(bool(_IF.search(piece)) for piece in _PIECE.split(part)) + len(_IF_AGAIN.findall(own)) > 1


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
    sentence = _SENTENCE.split(before)[-1] + stated
    clause = _CLAUSE.split(_SENTENCE.split(before)[-1])[-1] + (_NOUN.match(stated) or [""])[0]
    open_end = re.match(r"[\s)\]}\"']*(?:(?:[^,。\n]{0,6}吗|呢|么)?\?|\s*(?:if|unless)\b|还是)", text[end : end + 20])
    quoted = text[max(start - 1, 0) : start] in ("'", '"') and not re.search(r"[\"']", stated)
    return bool(open_end or quoted or _CONDITION.search(sentence) or _OTHERS.search(clause))


_EMPTY = re.compile(
    r"\\[hv]?(?:phantom|space)\*?\s*\{[^{}]*\}|\\(?:text\w*|math\w+|q?quad|underline|[lc]?dots|square|Box|big|_|[,;:! ])"
    r"|[\s$.…?□_*–<>\[\](){}-]"
)
"""What a box holds that is still to be filled in, and what stands around the name of what goes there."""
_PLACEHOLDER = re.compile(
    r"(?:the|a|an|your|my|final|numeric(?:al)?|correct|actual|insert|put|enter|fillin|option|choice|num)*"
    r"(?:answer|result|solution|value|number|expression|letter|content|final|option|something|response|placeholder|todo|tbd|x{2,})"
    r"(?:here|goeshere|letter)?|#1"
    r"|(?:votre|la|ta|su|tu|ihre|deine|sua|finale?|ваш|ответ)*(?:réponse|respuesta|antwort|resposta|ответ)(?:finale?|ici|aquí"
    r"|hier|aqui|здесь)?"
    r"|(?:你的|您的|最终|[这此][里处]|填[写入]?|あなたの|最終)*(?:答案|结果|内容|选项|答え|回答)(?:写在这里|字母)?|",
    re.IGNORECASE,
)
_UNFILLED = re.compile(
    r".*(?:=|\\approx|:)\s*(?:\\[lc]?dots|\.{2,}|…|\?+|_+|\\_+|\\square|\\Box|\\[hv]?phantom\{.*|\\text\{\s*[?.…_]*\})?\s*",
    re.DOTALL,
)
"""What a box holds whose right side is still to be filled in."""
_PRINTED = re.compile(
    r"(?:\b(?:print\w*|write\w*|puts|echo|console\.log|format|return|cout|log)\b[^\n]{0,40}"
    r"|=\s*[rfbR]{0,2})[\"'`][^\"'`\n]{0,60}\Z"
)
"""What makes a box a string in code."""


def is_placeholder(content: str) -> bool:
    """Return whether what a box holds is still to be filled in."""
    left = _EMPTY.sub("", content)
    blank = left.endswith("=") and not re.search(r"[\[({]\s*\\?[\])}]\s*\Z", content)
    return bool(blank or _PLACEHOLDER.fullmatch(left) or _UNFILLED.fullmatch(content))


def is_printed(before: str) -> bool:
    """Return whether what follows `before` is a string in code."""
    return bool(_PRINTED.search(before[-100:].rstrip("\\")))
