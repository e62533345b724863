"""Recorded postprocessors of lists, dictionaries and evaluated text."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable

from evaluators.postprocessors.lines import general
from evaluators.syntax import literal, parsed_expression
from leaderflow.core.errors import DataError
from leaderflow.core.types import Json

_UNREADABLE = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def literal_list(text: str) -> list[Json] | None:
    """Return the list between the first and the last square bracket, or None."""
    match = re.search(r"\[.*\]", text, re.DOTALL)
    value = _literal(match[0]) if match else None
    return value if isinstance(value, list) else None


def grid(text: str) -> list[list[int]]:
    """Return the first list of lists, ``[[0]]`` without one."""
    start = text.find("[[")
    end = text.find("]]", start)
    value = _literal(text[start : end + 2]) if 0 <= start < end else None
    return value if isinstance(value, list) and all(isinstance(row, list) for row in value) else [[0]]


def _literal(text: str) -> Json:
    try:
        return literal(text)
    except _UNREADABLE:
        return None


def answer_score(text: str) -> Json:
    """Return ``answer_score`` of the JSON object that the text or its JSON fence is, or None.

    Raises:
        DataError: the JSON is no object.
    """
    fence = re.search(r"```(?:json)?(.*?)```", text, re.DOTALL)
    try:
        value = json.loads(fence[1] if fence else text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        raise DataError(f"a judgement must be a JSON object, got {type(value).__name__}")
    return value.get("answer_score")


def ratings(text: str) -> dict[str, int] | None:
    """Return the last braces' ``'name': integer`` pairs, or None without braces."""
    match = re.search(r"{(.*?)}(?![^{]*{)", text)
    return {name: int(number) for name, number in re.findall(r"'(.*?)': (\d+)", match[1])} if match else None


def smiles_field(text: str) -> str | None:
    """Return the first object, list or whole text of a molecule answer on one line; None for a blank one.

    An object that is no JSON gives what follows its first colon, or the text ``None`` without one.
    """
    if not text.strip():
        return None
    text = text.replace("\n", " ")
    if match := re.search(r"\{.*?\}", text):
        return match[0] if _is_json(match[0]) else _after_colon(match[0])
    if match := re.search(r"\[(.*?)\]", text):
        return match[1]
    return text


def _after_colon(text: str) -> str:
    parts = text.split(":")
    return parts[1].strip(' "}') if len(parts) > 1 else "None"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def evaluated(text: str, postprocess: str | None = None) -> Json:
    """Return the text's value as a Python literal or sum of numbers, else the text; then `postprocess` of it.

    The recorded version evaluates the text as code; nothing is ever executed here.

    Raises:
        DataError: `postprocess` is not ``general``, or the value is no text for it.
    """
    value: Json
    try:
        value = _value(parsed_expression(text.strip())) if text.strip() else text
    except (*_UNREADABLE, ArithmeticError):
        value = text
    if postprocess not in (None, "general"):
        raise DataError(f"general_eval_wrapper knows the postprocess 'general' only, got {postprocess!r}")
    return general(value) if postprocess else value


def _value(node: ast.expr) -> Json:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _value(node.left), _value(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            return _ARITHMETIC[type(node.op)](left, right)
        raise ValueError("not arithmetic")
    return ast.literal_eval(node)
