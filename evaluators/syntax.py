"""Python that models wrote, read as a tree and never executed."""

from __future__ import annotations

import ast
import warnings


def parsed(text: str) -> ast.Module:
    """Return a program's tree. What Python warns of in it ("invalid decimal literal") is the model's matter and not printed.

    Raises:
        SyntaxError: it is no program; ValueError, MemoryError or RecursionError where Python gives up.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parsed_expression(text: str) -> ast.expr:
    """Return an expression's tree; raises as `parsed` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body
