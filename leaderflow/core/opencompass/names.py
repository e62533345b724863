"""Class and function names of OpenCompass → the names registered here.

The tables of recorded names belong to the rooms that recorded them and are found by name, as the registry finds everything.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from leaderflow.core import registry
from leaderflow.core.errors import SpecError
from leaderflow.core.names import NAMES
from leaderflow.core.opencompass import tables
from leaderflow.core.registry import Kind

_RECORDED = {"evaluator": "evaluators.recorded", "postprocessor": "evaluators.postprocessors.recorded"}
"""Kind → the module whose ``RECORDED`` maps dotted names to registered ones."""


def registered(kind: Kind, module: str, name: str) -> str | None:
    """Return the registered name of a class or function of OpenCompass, or None.

    Args:
        kind: what it is.
        module: where the configuration imports it from, which is often a package that only passes it on; may be empty.
        name: its name there, possibly with dots.
    """
    last = name.rpartition(".")[2]
    if kind == "model":
        last = tables.MODELS.get(last, last)
    if found := _recorded(kind, module, name):
        return found
    return last if last in NAMES[kind] else None


def function_of(cls: type) -> Callable[..., Any]:
    """Return the postprocessor that a reference names: local functions call it.

    Raises:
        SpecError: there is none.
    """
    name = registered("postprocessor", cls.__module__, cls.__qualname__)
    if name is None:
        raise SpecError(f"{cls.__module__}.{cls.__qualname__} is called, but leaderflow has no postprocessor of that name")
    return registry.resolve("postprocessor", name)


def split(name: str) -> tuple[str, str]:
    """Return (module, name) of a dotted name."""
    module, _, last = name.rpartition(".")
    return module, last


def _recorded(kind: Kind, module: str, name: str) -> str | None:
    table = _table(kind)
    full = f"{module}.{name}"
    if full in table:
        return table[full]
    last = name.rpartition(".")[2]
    named = [path for path in _by_last(kind).get(last, ()) if module in ("", split(path)[0]) or path.startswith(f"{module}.")]
    found = {table[path] for path in named or _by_last(kind).get(last, ())}
    return found.pop() if len(found) == 1 else None


@functools.cache
def _table(kind: Kind) -> Mapping[str, str]:
    module = _RECORDED.get(kind)
    recorded: Mapping[str, str] = importlib.import_module(module).RECORDED if module else {}
    return recorded


@functools.cache
def _by_last(kind: Kind) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path in _table(kind):
        last = split(path)[1]
        found[last] = (*found.get(last, ()), path)
    return found
