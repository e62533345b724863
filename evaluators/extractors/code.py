"""The program in a reply."""

from __future__ import annotations

import ast
import re
from typing import Literal

from evaluators.extractors.text import hide_reasoning
from leaderflow.core.types import Extraction

_FENCE = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[ \t{.]*(?P<language>[\w+#-]*)[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)(?!\w)|(?P<open>\Z))",
    re.DOTALL | re.MULTILINE,
)
_ALIASES = {"py": "python", "python3": "python", "c++": "cpp", "js": "javascript", "ts": "typescript", "golang": "go", "rs": "rust"}
_NOT_PROGRAMS = frozenset(
    (
        "text",
        "txt",
        "plaintext",
        "output",
        "console",
        "bash",
        "sh",
        "shell",
        "json",
        "markdown",
        "md",
        "diff",
        "yaml",
        "xml",
        "html",
    )
)
_DEFINES = re.compile(
    r"^\s*(?:async def|def|class|from\s+\S+\s+import|import)\b|^\s*@\w|#include|\b(?:public|fn|func|function)\b", re.MULTILINE
)
_START = re.compile(r"^(?:(?:async def|def|class|from|import)\s+\w|@\w)", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*(?:```|\[DONE\]|<\|)", re.MULTILINE)
_OPENING = re.compile(r"\s*\[BEGIN\][ \t]*\n")
_EFFECTIVE = (
    *(
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Import,
        ast.ImportFrom,
        ast.Assign,
        ast.AugAssign,
        ast.For,
        ast.While,
        ast.With,
    ),
    *(ast.If, ast.Try, ast.Raise),
)


def code_block(text: str, language: str = "python", which: Literal["last", "first"] = "last") -> Extraction:
    """Return the program of a reply: a fenced block, or the unfenced program that the reply is or contains.

    Blocks of `language`, or without a language, come before others, closed ones before one that is cut off, those that define
    something before examples of their use; shell sessions and outputs are no programs. Drafts in reasoning are not read. The
    body of a function keeps its indentation.

    Args:
        text: the reply.
        language: the language that a fence may name.
        which: the last or the first of the blocks that fit best.
    """
    view = hide_reasoning(text)
    blocks = [block for block in _FENCE.finditer(view) if block["code"].strip()]
    if not blocks or (len(blocks) == 1 and blocks[0]["open"] is not None and not blocks[0]["language"]):
        program = _unfenced(view, language)
        if program.value is not None or not blocks:
            return program
    ranks = [_rank(block, language) for block in blocks]
    if max(ranks)[0] < 0:
        return Extraction(None)
    fitting = [block for block, rank in zip(blocks, ranks, strict=True) if rank == max(ranks)]
    chosen = fitting[-1 if which == "last" else 0]
    return _span(view, chosen.start("code"), chosen.end("code"))


def _rank(block: re.Match[str], language: str) -> tuple[int, bool, bool]:
    named = _ALIASES.get(block["language"].lower(), block["language"].lower())
    fit = 1 if named in ("", language) else -1 if named in _NOT_PROGRAMS else 0
    return fit, block["open"] is None, bool(_DEFINES.search(block["code"]))


def _unfenced(view: str, language: str) -> Extraction:
    """Return the text if it is a program or a function's body, else the longest part that starts with a definition."""
    if language != "python":
        return Extraction(None)
    opening = _OPENING.match(view)
    begin = opening.end() if opening else len(view) - len(view.lstrip("\n"))
    view = view[: next((mark.start() for mark in _CLOSING.finditer(view, begin) if view[begin : mark.start()].strip()), len(view))]
    if _runs(view[begin:]):
        return _span(view, begin, len(view))
    start = next((match.start() for match in _START.finditer(view)), len(view))
    for end in reversed([match.start() for match in re.finditer(r"\n|\Z", view) if match.start() > start]):
        if _runs(view[start:end]):
            return _span(view, start, end)
    return Extraction(None)


def _runs(code: str) -> bool:
    """Return whether `code` is Python, or an indented function body, that does something; a word or a formula does nothing."""
    body = code[:1] in (" ", "\t")
    try:
        nodes = ast.parse("def body():\n" + code if body else code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if body and isinstance(nodes[0], ast.FunctionDef):
        nodes = nodes[0].body + nodes[1:]
        body = any(isinstance(node, ast.Return | ast.Pass) for node in nodes)
    return body or any(isinstance(n, _EFFECTIVE) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)) for n in nodes)


def _span(text: str, start: int, end: int) -> Extraction:
    end = start + len(text[start:end].rstrip())
    return Extraction(text[start:end], start, end) if start < end else Extraction(None)
