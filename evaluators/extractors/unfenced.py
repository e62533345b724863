"""The program in a text without a fence, and what is Python at all."""

from __future__ import annotations

import ast
import re
import textwrap

from leaderflow.core.types import Extraction

_START = re.compile(r"^(?:(?:async def|def|class|from|import)\s+\w|@\w)", re.MULTILINE)
_SCRIPT = re.compile(r"^(?:\w+(?:, ?\w+)* = \S|(?:for|while)\b[^\n]*:$|print\()", re.MULTILINE)
"""The first line of a program that defines nothing."""
_INDENTED = re.compile(
    r"^(?:[ ]{2,}|\t)(?:(?:async def|def|class|from|import)\s+\w|@\w).*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n\s*\n*[ \t]+\S)))*",
    re.MULTILINE,
)
"""An indented part that begins like a program."""
_CLOSING = re.compile(r"^[ \t]*(?:```|\[DONE\]|<\||</\w+>|\[/\w+\])|</(?:code|pre|python|answer)>", re.MULTILINE)
_OPENING = re.compile(r"\s*(?:\[(?:BEGIN|PYTHON|CODE)\][ \t]*\n|<(?:code|python|answer)>\n?)")
_TRIES = 50
"""How often a part of a reply without a fence is read as a program."""
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


def unfenced(view: str, language: str) -> Extraction:
    """Return the text if it is a program or a function's body, else the longest part that starts with a definition."""
    if language != "python":
        return Extraction(None)
    opening = _OPENING.match(view)
    begin = opening.end() if opening else len(view) - len(view.lstrip("\n"))
    view = view[: next((mark.start() for mark in _CLOSING.finditer(view, begin) if view[begin : mark.start()].strip()), len(view))]
    if _runs(view[begin:]):
        return _span(view, begin, len(view))
    body = [begin] if view[begin : begin + 1] in (" ", "\t") else []
    for start in [*body, *(match.start() for match in _START.finditer(view))][:_TRIES]:
        if end := _longest(view, start):
            breaks_off = re.match(r"\n*[ \t]+\S", view[end:])
            if not breaks_off:
                return _span(view, start, end)
            whole = max((line.start() for line in re.finditer(r"^\S", view[start:end], re.MULTILINE)), default=0)
            return _span(view, start, start + whole) if start in body else Extraction(None)
    script = _SCRIPT.search(view)
    if script and (end := _longest(view, script.start())) and "print(" in view[script.start() : end]:
        return _span(view, script.start(), end)
    for part in _INDENTED.finditer(view):
        if _runs(code := textwrap.dedent(part[0]).strip("\n")):
            return Extraction(code.rstrip(), part.start(), part.start() + len(part[0].rstrip()))
    return Extraction(None)


def _longest(view: str, start: int) -> int | None:
    """Return where the program that begins at `start` ends: before the first line that is no Python, or an earlier one."""
    end = len(view)
    for _ in range(_TRIES):
        if end <= start:
            return None
        nodes, line = _read(view[start:end])
        if line is None:
            return end if _does_something(nodes, view[start] in " \t") else None
        places = [match.start() for match in re.finditer(r"^", view[start:end], re.MULTILINE)]
        end = min(start + places[min(max(line - 1, 0), len(places) - 1)], start + len(view[start:end].rstrip().rpartition("\n")[0]))
    return None


def _read(code: str) -> tuple[list[ast.stmt], int | None]:
    """Return the statements of `code`, a program or a function's body, and the line where it stops to be Python, if it does."""
    body = code[:1] in (" ", "\t")
    try:
        nodes = ast.parse("def body():\n" + code if body else code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return [], (getattr(error, "lineno", None) or 1) - body
    return nodes, next((node.lineno - body for node in nodes if _is_idle(node)), None)


def _is_idle(node: ast.stmt) -> bool:
    """Return whether a statement does nothing, as a word of prose or an output that reads as Python."""
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Constant):
        return not isinstance(node.value.value, str)
    return isinstance(node.value, ast.Name | ast.Tuple | ast.Compare)


def parses(code: str) -> bool:
    """Return whether `code` is Python, or a function's body."""
    return _read(code)[1] is None


def _runs(code: str) -> bool:
    """Return whether `code` is Python, or a function's body, that does something; a word or a formula does nothing."""
    nodes, fault = _read(code)
    return fault is None and _does_something(nodes, code[:1] in (" ", "\t"))


def _does_something(nodes: list[ast.stmt], body: bool) -> bool:
    if body and isinstance(nodes[0], ast.FunctionDef):
        nodes = nodes[0].body + nodes[1:]
        body = any(isinstance(node, ast.Return | ast.Pass) for node in nodes)
    return body or any(
        isinstance(n, _EFFECTIVE)
        or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Call))
        or (isinstance(n, ast.Return) and n.value is not None)
        for n in nodes
    )


def _span(text: str, start: int, end: int) -> Extraction:
    end = start + len(text[start:end].rstrip())
    return Extraction(text[start:end].replace("\r\n", "\n"), start, end) if start < end else Extraction(None)
