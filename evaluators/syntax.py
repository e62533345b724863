"""Python that models wrote, read as a tree and never executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_FILTERS = Lock()
"""The filters of warnings belong to the process, and cells are read in threads."""


@contextmanager
def _silence() -> Iterator[None]:
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parsed(text: str) -> ast.Module:
    """Return a program's tree. What Python warns of in it ("invalid decimal literal") is the model's matter and not printed.

    Raises:
        SyntaxError: it is no program; ValueError, MemoryError or RecursionError where Python gives up.
    """
    with _silence():
        return ast.parse(text)


def parsed_expression(text: str) -> ast.expr:
    """Return an expression's tree; raises as `parsed` does."""
    with _silence():
        return ast.parse(text, mode="eval").body


def literal(text: str) -> Any:
    """Return a literal's value (`ast.literal_eval`); raises as `parsed` does, and TypeError for a set of lists or the like."""
    with _silence():
        return ast.literal_eval(text)
