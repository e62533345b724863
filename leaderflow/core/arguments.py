"""Values that an argument of a postprocessor can never have: refused with the configuration, not found out by wrong scores."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

from leaderflow.core.errors import SpecError
from leaderflow.core.types import Json


def refuse_impossible(function: Callable[..., Any], arguments: Mapping[str, Json], *, key: str | None = None) -> None:
    """See that every argument has the type that the function names, and a value that means something.

    No text, list or entry of a list is empty; options are letters and digits, each once; a pattern compiles; `low` is below `high`.

    Raises:
        SpecError: names the argument and what it must be.
    """
    hints = _hints(function)
    for name, value in arguments.items():
        if fault := _type_fault(hints[name], value) if name in hints else None:
            raise SpecError(f"{name} must be {fault}, not {value!r}", key=key)
        if fault := _value_fault(name, value):
            raise SpecError(f"{name} {value!r}: {fault}", key=key)
    low, high = (arguments.get(name, _default(function, name)) for name in ("low", "high"))
    if low is not None and high is not None and not low < high:
        raise SpecError(f"low must be below high, got {low} and {high}", key=key)


def _type_fault(hint: Any, value: Json) -> str | None:
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(hint).validate_python(value, strict=True)
    except ValidationError:
        return _said(hint)
    return None


def _value_fault(name: str, value: Json) -> str | None:
    parts = value if isinstance(value, list | tuple) else [value]
    if not parts or "" in parts:
        return "it must not be empty"
    if name in ("options", "labels") and len(set(value)) < len(value):
        return "it names one twice"
    if name == "options" and isinstance(value, str) and not value.isalnum():
        return "options are letters or digits side by side, such as ABCD"
    if name.endswith("pattern"):
        try:
            re.compile(value)
        except re.error as exc:
            return f"it is no regular expression: {exc}"
    return None


def _said(hint: Any) -> str:
    """Return a type in words."""
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(hint)))
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
    if hint in words:
        return words[hint]
    inner = [part for part in typing.get_args(hint) if part is not type(None)]
    return _said(inner[0]) if len(inner) == 1 and type(None) in typing.get_args(hint) else "a list of texts"


def _plain(function: Callable[..., Any]) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(_plain(function))
    except (NameError, TypeError, AttributeError):  # a user's own function need not be annotated so that it can be read here
        return {}


def _default(function: Callable[..., Any], name: str) -> Any:
    parameter = inspect.signature(function).parameters.get(name)
    return None if parameter is None or parameter.default is parameter.empty else parameter.default
