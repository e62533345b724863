"""The program in a reply."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Literal

from evaluators.extractors.text import hide_reasoning
from leaderflow.core.types import Extraction

_FENCE = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w+#.-]*)[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|(?P<open>\Z))",
    re.DOTALL | re.MULTILINE,
)
_NOT_PROGRAMS = frozenset("text txt plaintext output console bash sh shell json markdown md diff yaml xml html".split())
_ALIASES = {"py": "python", "python3": "python", "c++": "cpp", "js": "javascript", "ts": "typescript", "golang": "go", "rs": "rust"}
_DEFINES = re.compile(
    r"^\s*(?:async def|def|class|from\s+\S+\s+import|import)\b|^\s*@\w|#include|\b(?:public|fn|func|function)\b", re.MULTILINE
)
_START = re.compile(r"^(?:async def|def|class|from\s+\S+\s+import|import|@\w)", re.MULTILINE)


def code_block(text: str, language: str = "python", which: Literal["last", "first"] = "last") -> Extraction:
    """Return the program of a reply: a fenced block, or the unfenced program that the reply is or contains.

    Blocks of `language` come before blocks without one, those that define something before examples of use; shell sessions and outputs
    are no programs. A block that is not closed counts where no other does. Drafts in reasoning are not read. An indented function body
    is kept as it is.

    Args:
        text: the reply.
        language: the language that a fence may name.
        which: the last or the first of the blocks that fit best.
    """
    view = hide_reasoning(text)
    blocks = [block for block in _FENCE.finditer(view) if block["code"].strip()]
    if not blocks:
        return _unfenced(view, language)
    ranked = [(_rank(block, language), block) for block in blocks]
    best = max(rank for rank, _ in ranked)
    if best[0] < 0:
        return Extraction(None)
    fitting = [block for rank, block in ranked if rank == best]
    chosen = fitting[-1 if which == "last" else 0]
    return Extraction(chosen["code"].rstrip("\n"), chosen.start("code"), chosen.start("code") + len(chosen["code"].rstrip("\n")))


def _rank(block: re.Match[str], language: str) -> tuple[int, bool, bool]:
    named = block["language"].lower()
    named = _ALIASES.get(named, named)
    fit = 2 if named == language else 1 if not named else -1 if named in _NOT_PROGRAMS else 0
    return fit if fit < 0 else 0 if named not in ("", language) else 1, block["open"] is None, bool(_DEFINES.search(block["code"]))


def _unfenced(view: str, language: str) -> Extraction:
    if language != "python" or not view.strip():
        return Extraction(None)
    if view.startswith((" ", "\t", "\n")) and _is_body(view):
        return _span(view, len(view) - len(view.lstrip("\n")), len(view.rstrip()))
    start = _START.search(view)
    ends = [match.start() for match in re.finditer(r"\n|\Z", view[start.start() :])] if start else []
    for end in reversed(ends):
        if start and _parses(view[start.start() : start.start() + end]):
            return _span(view, start.start(), start.start() + len(view[start.start() : start.start() + end].rstrip()))
    return Extraction(None)


def _is_body(code: str) -> bool:
    body = textwrap.dedent(code)
    return _parses("def f():\n" + textwrap.indent(body, "    ")) and bool(
        re.search(r"^(?:return|yield|pass|raise|for|while|if|with|\w+\s*[-+*/]?=)", body, re.M)
    )


def _parses(code: str) -> bool:
    try:
        return bool(ast.parse(code).body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False


def _span(text: str, start: int, end: int) -> Extraction:
    return Extraction(text[start:end], start, end) if start < end else Extraction(None)
