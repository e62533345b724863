"""What a class or function of a source file needs: read from the syntax tree of that file, nothing is run."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_OPTIONAL = frozenset({"opencompass", "mmengine", "modelscope"})
"""Packages that are replaced, or used only where a variable of OpenCompass asks for them."""

_SCORING = ("opencompass.datasets", "opencompass.evaluator", "opencompass.utils.text_postprocessors")
"""Where code that scores lies; the base classes elsewhere are looked after by our own."""

_DANGER = re.compile(
    r"\b(?:exec|eval)\(|\bsubprocess\b|\bmultiprocessing\b|\bos\.system\b|\bopenai\b|\b\w*Inferencer\b|\bjudge_cfg\b"
)
"""Signs that scoring runs what a model wrote, or asks another model."""


Find = Callable[[Path, int, str, str], Path | None]
"""From a file and what it imports (level, module, name) to the package's own file that defines it."""


@functools.cache
def unfit(file: Path, name: str, find: Find) -> str:
    """Return why a class or function is not used for scoring; empty where it can be.

    It needs its packages, and must neither run what a model wrote nor ask another model: those are the sandbox's and the judge's.
    What it imports of its own package is looked at too.
    """
    waiting, seen, absent = [(file, name)], {(file, name)}, set()
    while waiting:
        here, wanted = waiting.pop()
        text = here.read_text(encoding="utf-8", errors="replace")
        nodes = list(_reached(ast.parse(text), wanted))
        for node in nodes:
            if found := _DANGER.search(ast.get_source_segment(text, node) or ""):
                return f"OpenCompass' own code for it is not used, because it says {found[0].strip('(')}"
        absent |= {top for node in nodes for top in _absent(node)}
        further = {
            (there, part) for node in nodes for level, module, part in _own(node) if (there := find(here, level, module, part))
        }
        waiting += sorted(further - seen)
        seen |= further
    return f"OpenCompass' own code for it needs {', '.join(sorted(absent))}" if absent else ""


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


def _absent(statement: ast.stmt) -> Iterator[str]:
    """Yield the packages that a statement imports and that are not installed."""
    for node in ast.walk(statement):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for top in {name.partition(".")[0] for name in names} - _OPTIONAL:
            if top not in sys.builtin_module_names and importlib.util.find_spec(top) is None:
                yield top


def _own(statement: ast.stmt) -> Iterator[tuple[int, str, str]]:
    """Yield (level, module, name) of what a statement imports of its own package."""
    for node in ast.walk(statement):
        if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).startswith(_SCORING)):
            yield from ((node.level, node.module or "", alias.name) for alias in node.names)
