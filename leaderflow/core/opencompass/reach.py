"""What a class or function of a source file needs: read from the syntax tree of that file, nothing is run."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_OPTIONAL = frozenset({"opencompass", "mmengine", "modelscope"})
"""Packages that are replaced, or used only where a variable of OpenCompass asks for them."""

_DANGER = re.compile(
    r"\b(?:exec|eval)\(|\bsubprocess\b|\bmultiprocessing\b|\bos\.system\b|\bopenai\b|\b\w*Inferencer\b|\bjudge_cfg\b"
)
"""Signs that scoring runs what a model wrote, or asks another model."""


@functools.cache
def unfit(file: Path, name: str) -> str:
    """Return why a class or function is not used for scoring; empty where it can be.

    It needs its packages, and must neither run what a model wrote nor ask another model: those are the sandbox's and the judge's.
    """
    text = file.read_text(encoding="utf-8", errors="replace")
    nodes = list(_reached(ast.parse(text), name))
    for node in nodes:
        if found := _DANGER.search(ast.get_source_segment(text, node) or ""):
            return f"OpenCompass' own code for it is not used, because it says {found[0].strip('(')}"
    tops = {module.partition(".")[0] for node in nodes for module in _imports(node)} - _OPTIONAL
    absent = sorted(top for top in tops if top not in sys.builtin_module_names and importlib.util.find_spec(top) is None)
    return f"OpenCompass' own code for it needs {', '.join(absent)}" if absent else ""


def _reached(tree: ast.Module, name: str) -> Iterator[ast.stmt]:
    """Yield the top-level statements that bind what a name needs, by way of the names that these mention in turn."""
    bound: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for target in _binds(statement):
            bound.setdefault(target, []).append(statement)
    waiting, seen = [name], {name}
    done: set[int] = set()
    while waiting:
        for statement in bound.get(waiting.pop(), []):
            if id(statement) in done:
                continue
            done.add(id(statement))
            yield statement
            mentioned = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - seen
            seen |= mentioned
            waiting.extend(mentioned)


def _binds(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _imports(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
