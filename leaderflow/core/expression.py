"""Arithmetic in one variable x, written in a spec and never run as code."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from leaderflow.core.errors import SpecError

Formula = Callable[[float], float]

LONGEST = 200
"""Characters of an expression: enough for any change of unit, too few to nest deeply."""

_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_UNARY: Mapping[type[ast.unaryop], Formula] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "log": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
}
_SEVERAL = frozenset({"min", "max"})
_ALLOWED = f"an expression in x of numbers, + - * / **, parentheses and {', '.join(_FUNCTIONS)}"


def formula(text: str) -> Formula:
    """Return the function that an expression such as ``100 - x`` stands for.

    The function raises ArithmeticError or ValueError where it has no value, such as a division by zero.

    Raises:
        SpecError: the text is anything but arithmetic in x.
    """
    try:
        if len(text) > LONGEST:
            raise _refusal(text, f"it is longer than {LONGEST} characters")
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise _refusal(text, "it cannot be parsed") from exc
    return _compiled(tree.body, text)


def _compiled(node: ast.expr, text: str) -> Formula:
    match node:
        case ast.Name(id="x"):
            return lambda x: x
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _constant(value, text)
        case ast.BinOp(op=op) if type(op) in _BINARY:
            combine, left, right = _BINARY[type(op)], _compiled(node.left, text), _compiled(node.right, text)
            return lambda x: combine(left(x), right(x))
        case ast.UnaryOp(op=sign) if type(sign) in _UNARY:
            apply, inner = _UNARY[type(sign)], _compiled(node.operand, text)
            return lambda x: apply(inner(x))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _call(name, args, text)
    raise _refusal(text, f"{ast.unparse(node)!r} is not allowed")


def _constant(value: int | float, text: str) -> Formula:
    try:
        number = float(value)
    except OverflowError as exc:
        raise _refusal(text, "a number in it is too large") from exc
    return lambda x: number


def _call(name: str, args: list[ast.expr], text: str) -> Formula:
    few = 2 if name in _SEVERAL else 1
    if len(args) < few or (name not in _SEVERAL and len(args) > 1):
        raise _refusal(text, f"{name} takes {'two or more values' if few == 2 else 'one value'}")
    function, inner = _FUNCTIONS[name], [_compiled(arg, text) for arg in args]
    return lambda x: function(*[part(x) for part in inner])


def _refusal(text: str, why: str) -> SpecError:
    shown = text if len(text) <= 60 else f"{text[:57]}…"
    return SpecError(f"the transform {shown!r} is not {_ALLOWED}: {why}")
