"""The program in a text without a fence, and what is Python at all."""

from __future__ import annotations

import ast
import re
import textwrap

from evaluators.extractors.source import foreign
from evaluators.extractors.text import turns
from evaluators.syntax import parsed
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
_OPENING = re.compile(r"\s*(?:#{2,6} [^\n]*:[ \t]*\n|\[(?:BEGIN|PYTHON|CODE)\][ \t]*\n|<(?:code|python|answer)>\n?)")
_INLINE = re.compile(r"\s*(?P<ticks>`{1,3})(?:python[ \t])?(?P<code>[^`\n]+)(?P=ticks)\s*")
_NAMED_INLINE = re.compile(
    r"\A[^`\n]{0,60}(?i:program|code|solution|one-liner|script|programm|lösung|programme|programa|código|solución|soluzione"
    r"|программа|код)"
    r"(?: \w+){0,3}?(?: is| would be| ist| est| es| è| é)?:? ?(?P<ticks>`{1,3})(?P<code>[^`\n]+)(?P=ticks)[.!]?\s*\Z"
)
"""A program of one line in a sentence."""
_BLANK_BODY = re.compile(r"^[ \t]+\.\.\.\s*$", re.MULTILINE)
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


def without_fence(view: str, language: str, fenced: bool) -> Extraction:
    """Return the program outside of fences, before a question that a base model invents; one without a statement is none."""
    cut = next((start for start, _ in turns(view) if view[:start].strip() and not view[:start].count('"""') % 2), len(view))
    program = _unfenced(view[:cut], language)
    if program.value is None and not fenced and (part := foreign(view[:cut])):
        program = Extraction(view[slice(*part)].replace("\r\n", "\n"), *part)
    return Extraction(None) if program.value and is_empty(program.value) else program


def _unfenced(view: str, language: str) -> Extraction:
    """Return the text if it is a program or a function's body, else the longest part that starts with a definition."""
    if language != "python":
        return Extraction(None)
    if (inline := _INLINE.fullmatch(view) or _NAMED_INLINE.search(view)) and _says_something(inline["code"]):
        return _span(view, *inline.span("code"))
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
        nodes = parsed("def body():\n" + code if body else code).body
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


def _says_something(code: str) -> bool:
    """Return whether `code` is a statement, a call or a function in a line."""
    nodes, fault = _read(code.strip())
    return _runs(code.strip()) or (fault is None and isinstance(getattr(nodes[0], "value", None), ast.Lambda))


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


def is_empty(code: str) -> bool:
    """Return whether Python says nothing: comments or tests alone, or functions whose bodies are still to be written."""
    try:
        nodes = parsed(code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if nodes and all(isinstance(node, ast.Assert | ast.Import | ast.ImportFrom) for node in nodes):
        return True
    if (
        nodes
        and not all(isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and len(node.body) == 1 for node in nodes)
        and "#" not in code
        and not _BLANK_BODY.search(code)
        and "NotImplementedError" not in code
    ):
        return False
    idle = (ast.Pass, ast.Import, ast.ImportFrom, ast.Raise)
    bodies = [node.body if isinstance(node, ast.FunctionDef) else [node] for node in nodes]
    return all(
        isinstance(n, idle) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)) for body in bodies for n in body
    )
