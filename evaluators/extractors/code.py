"""The program in a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from evaluators.extractors import leads
from evaluators.extractors.source import defines_routine, heads, is_output, is_signature, is_use, is_whole, language_of
from evaluators.extractors.standing import taken_back
from evaluators.extractors.text import hide_reasoning, turns
from evaluators.extractors.unfenced import is_empty, parses, without_fence
from evaluators.extractors.versions import Version, preferred
from leaderflow.core.types import Extraction

_OPENED = (
    r"^(?P<indent>[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<fence>```+|~~~+)[ \t{.]*(?P<language>[\w+#-]*)[^\n]*\n(?P<code>.*?)"
)
_FENCE = re.compile(rf"{_OPENED}(?:^[ \t>]*(?P=fence)(?!\w)|(?P<open>\Z))", re.DOTALL | re.MULTILINE)
_OUTER_FENCE = re.compile(rf"{_OPENED}(?:^(?P=indent)(?P=fence)(?!\w)|(?P<open>(?!)))", re.DOTALL | re.MULTILINE)
"""A fence that is closed where it was opened, so that its docstrings may hold others."""
_ALIASES = {"py": "python", "python3": "python", "c++": "cpp", "js": "javascript", "ts": "typescript", "golang": "go", "rs": "rust"}
_NOT_PROGRAMS = frozenset(
    re.findall(
        r"\w+",
        "text txt plaintext output console bash sh shell zsh powershell pycon json markdown md diff yaml xml html log csv toml ini",
    )
)
_DEFINES = re.compile(
    r"^\s*(?:async def|def|class)\b|^\s*@\w|^\w+ = lambda\b|#include|\b(?:public|fn|func|function)\b", re.MULTILINE
)
_SHELL_FUNCTION = re.compile(r"\s*(?:#[^\n]*\n)*(?:function\s+[\w-]+|\w+\(\)\s*\{)")
_COMMENT_LAST = re.compile(r"\n[ \t]+(?:#|//|--)[^\n]*\s*\Z")
_DECLARING = frozenset(["", "c", "cpp", "java", "csharp", "cs"])
_LANGUAGE_OPEN = re.compile(
    r"(?i:\b(?:which|what) language you\b|\b(?:didn't|did not|don't|doesn't|does not|not) (?:say|specify|mention|tell|clear"
    r"|state)[^.\n]{0,20}\blanguage\b"
    r"|\bwelche sprache"
    r"|\bquel langage|\b(?:qué|que|quale) (?:lenguaje|linguagem|linguaggio)|\bкакой язык)|没有?说[^。\n]{0,10}语言"
)
"""Saying that programs in several languages are on offer."""
_NEXT = re.compile(r"(?<=\n)[^\n]*[:：][\s*_]*\Z")
"""A line that leads to the block after it."""
_NAMES = re.compile(r"^(?:async def|def|class)\s+(\w+)", re.MULTILINE)
_HEADER = re.compile(r":\s*(?:#[^\n]*\s*)*\Z")
"""The end of a program whose last statement has no body."""
_TEST_CASE = re.compile(r"\bTestCase\)|^def test\w*\(\s*\)", re.MULTILINE)
_TEST = re.compile(r"(?i:test)")
_SESSION = re.compile(r"^[ \t]*(?:>>> |\$ |(?:pip3?|python3?|npm|npx|conda|brew|sudo|git|apt|apt-get|cd|pytest) )", re.MULTILINE)
_PREFERS_FIRST = re.compile(
    r"(?i:\b(?:use|using|prefer|recommend|go with|stick (?:with|to)|keep|choose|submit(?:ting)?"
    r"|answer is)\b[^.\n]{0,40}\b(?:first|above|former|previous"
    r"|earlier|original)\b)|(?:推荐|建议|请)(?:使用|用|采用)?[^。\n]{0,8}(?:第一|前一|上面|前者)"
)
_CONDITION = re.compile(r"(?i:^\W*(?:if|when|should|in case|for)\b)|^\W*(?:如果|若)")
_CUT_OFF = re.compile(r"[\w,(:，：]\Z")
_ANNOUNCES = re.compile(
    r"(?i:\b(?:complete|full|final|entire|whole|put(?:ting)? (?:\w+ ){0,3}together|combin\w+|vollständig\w*|complète?"
    r"|complet[ao]|полн\w+)"
    r"\b)[^.!?\n]*\Z|(?:完整|最终|综上|综合)[^。！？\n]*\Z"
)
"""The end of a reply that is cut off before its program."""
_ACTS = re.compile(r"\b(?:print|input|open|return|SELECT)\b|\w\.(?:write|log|print\w*)\(|std::cout")
"""What makes lines without a definition a program of their own."""
_LOOKS = re.compile(
    r"[={};\[]|\w\(|^[ \t]*(?:def|class|import|from|for|if|while|return|print|SELECT|let|const|var)\b", re.MULTILINE
)


def code_block(text: str, language: str = "python", which: Literal["last", "first"] = "last") -> Extraction:
    """Return the program of a reply: a fenced block, or the unfenced program that the reply is or contains.

    Blocks of `language`, or without a language, come before others, closed ones before one that is cut off, those that define
    something before examples of their use; shell sessions and outputs are no programs. Drafts in reasoning are not read. The
    body of a function keeps its indentation. Of several versions the preferred one counts; without a preference there is none.

    Args:
        text: the reply.
        language: the language that a fence may name.
        which: the last or the first of the blocks that fit best.
    """
    view = hide_reasoning(text)
    blocks = [block for block in _blocks(view) if block["code"].strip()]
    end = _run_on(view, blocks)
    view, blocks = view[:end], [block for block in blocks if block.start() < end]
    if not blocks or (len(blocks) == 1 and blocks[0]["open"] is not None and not blocks[0]["language"]):
        program = without_fence(view, language, bool(blocks))
        if program.value is not None or not blocks:
            return program
    standing = [block for block in blocks if not taken_back(_NEXT.sub("", _prose_after(view, block, blocks)))]
    ranks = {block: _rank(view, block, blocks, language) for block in standing}
    fitting = [block for block, rank in ranks.items() if rank == max(ranks.values()) and rank[0] >= 0]
    if not fitting:
        return Extraction(None)
    if len(fitting) > 1 and all(_CONDITION.search(_sentence_before(view, block, blocks)) for block in fitting[-2:]):
        return Extraction(None)
    if len(blocks) > 1 and _LANGUAGE_OPEN.search(view[blocks[-1].end() :]):
        return Extraction(None)
    place = -1 if len(fitting) < 2 else preferred(_versions(view, fitting), view[fitting[-1].end() :])
    if place is None or _breaks_off(view, blocks, fitting[-1]):
        return Extraction(None)
    first = place < 0 and (which == "first" or _PREFERS_FIRST.search(_prose_after(view, fitting[0], [])))
    return _program(view, fitting[0] if first else fitting[place])


def _blocks(view: str) -> Iterator[re.Match[str]]:
    """Yield the fenced blocks in order; a fence inside an open docstring ends none."""
    place = 0
    while block := _FENCE.search(view, place):
        if block["code"].count('"""') % 2:
            block = _OUTER_FENCE.match(view, block.start()) or block
        yield block
        place = max(block.end(), place + 1)


def _run_on(view: str, blocks: list[re.Match[str]]) -> int:
    """Return where a question that a base model invents begins after the first program, outside its fences; else the end."""
    if not blocks:
        return len(view)
    begin, inside = blocks[0].end(), [block.span() for block in blocks[1:]]
    cuts = [begin + start for start, _ in turns(view[begin:]) if start]
    return next((cut for cut in cuts if not any(a <= cut < b for a, b in inside)), len(view))


def _versions(view: str, fitting: list[re.Match[str]]) -> list[Version]:
    """Return the blocks with the text that leads to each."""
    begins = [max(fitting[0].start() - 300, 0), *(block.end() for block in fitting)]
    return [Version(view[begin : block.start()], block["code"]) for begin, block in zip(begins, fitting, strict=False)]


def _breaks_off(view: str, blocks: list[re.Match[str]], block: re.Match[str]) -> bool:
    """Return whether the reply ends before the program that a block only helps to explain."""
    last, tail = blocks[-1], view[blocks[-1].end() :].strip()
    open_end = last["open"] is not None and last is not block
    if not (open_end or _CUT_OFF.search(tail)):
        return False
    code = _dedented(block)
    if open_end and any(re.search(rf"\b{name}\(", last["code"]) for name in heads(code) - heads(last["code"])):
        return True
    return bool(_ANNOUNCES.search(tail)) or not (_DEFINES.search(code) or language_of(code) or _ACTS.search(code))


def _prose_after(view: str, block: re.Match[str], blocks: list[re.Match[str]]) -> str:
    return view[block.end() : next((later.start() for later in blocks if later.start() >= block.end()), len(view))]


def _lead(view: str, block: re.Match[str], blocks: list[re.Match[str]]) -> str:
    """Return the text that leads to a block, from the block before on."""
    begin = max((earlier.end() for earlier in blocks if earlier.end() <= block.start()), default=0)
    return view[begin : block.start()].strip()[-200:]


def _sentence_before(view: str, block: re.Match[str], blocks: list[re.Match[str]]) -> str:
    return re.split(r"[.!?。！？]\s+|\n\n", _lead(view, block, blocks).rstrip(".。 :："))[-1]


def _rank(view: str, block: re.Match[str], blocks: list[re.Match[str]], language: str) -> tuple[int, bool, bool, bool]:
    """Return how well a block fits: language, whether it is whole, defines more than tests, and is not set aside by its lead."""
    code = _dedented(block)
    named = _ALIASES.get(block["language"].lower(), block["language"].lower())
    fit = 1 if named in ("", language) else -1 if named in _NOT_PROGRAMS else 0
    python = named == "python" or (not named and language == "python")
    guess = language_of(code) if named in ("", language) and not parses(code) else named
    python = python and guess is None if not named else python
    cut_off = block["open"] is not None and (
        _COMMENT_LAST.search(code) or not (parses(code) if python else is_whole(code, guess or named))
    )
    if fit < 0 and (code.startswith("#!") or _SHELL_FUNCTION.match(code) or (named == "html" and len(blocks) == 1)):
        fit = 0
    if python and is_empty(code):
        fit = -1
    if (
        cut_off
        or (named in _DECLARING and is_signature(code))
        or (python and _HEADER.search(code))
        or (fit == 1 and language != "bash" and _SESSION.match(code))
        or (not named and (is_output(code) or not _LOOKS.search(code)))
    ):
        fit = -1
    if not named and not language_of(code) and leads.OUTPUT.search(_lead(view, block, blocks)) and not _DEFINES.search(code):
        fit = -1
    names = _NAMES.findall(code)
    defines = bool(_DEFINES.search(code)) and not (names and all(_TEST.match(name) for name in names))
    if not python:
        own = {"sql": defines_routine(code)}.get(named, defines or bool(language_of(code)) or defines_routine(code))
        defines = own and (named == "sql" or not is_use(code)) and not _runs_another(code, block, blocks)
    lead = _lead(view, block, blocks)
    forward = bool(leads.PUTS_FORWARD.search(re.split(r"[.!?。！？]\s*", lead.rstrip(".。 :："))[-1]))
    if not defines and (leads.USAGE.search(lead) or (code.count("\n") < 2 and leads.FRAGMENT.search(lead))):
        fit = -1
    if not forward and (leads.QUOTES.search(lead) or (names and not defines and (_TEST_CASE.search(code) or _TEST.search(lead)))):
        fit = -1
    whole = block["open"] is None or (forward and python and fit > 0)
    return fit, whole, defines, forward or not leads.SETS_ASIDE.search(lead)


def _runs_another(code: str, block: re.Match[str], blocks: list[re.Match[str]]) -> bool:
    """Return whether code is no more than a main function that calls what a block before defines."""
    names = heads(code)
    if not names or names - {"main", "Main", "Program"}:
        return False
    others = {name for earlier in blocks if earlier.end() <= block.start() for name in heads(earlier["code"])} - names
    return any(re.search(rf"\b{name}\b", code) for name in others)


def _dedented(block: re.Match[str]) -> str:
    """Return a block's code without the indentation that its fence has, with plain line ends."""
    indent = block["indent"]
    code = block["code"].replace("\r\n", "\n")
    if ">" in indent:
        return re.sub(rf"^{re.escape(indent.rstrip())} ?", "", code, flags=re.MULTILINE)
    return re.sub(rf"^[ \t]{{1,{len(indent)}}}", "", code, flags=re.MULTILINE) if indent else code


def _program(view: str, block: re.Match[str]) -> Extraction:
    start, end = block.span("code")
    code = _dedented(block).rstrip()
    return Extraction(code, start, start + len(view[start:end].rstrip())) if code else Extraction(None)
