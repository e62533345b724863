"""What evaluators demand of a row beside its columns: seen when the data are read, before any request is paid for.

A demand says in words what must hold, and tests it. Only what could never be scored is demanded: a reference that merely no answer
will match is the dataset's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderflow.core.errors import DataError
from leaderflow.core.types import Json, Row

_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Demand:
    """`said` completes "needs …"; `holds` says whether a value meets it. The value is the reference, or that of `column`."""

    said: str
    holds: Callable[[Any], object]
    column: str | None = None

    def check(self, who: str, reference: Json, row: Row) -> None:
        """See that a row meets the demand.

        Raises:
            DataError: names what was demanded and what stands there.
        """
        value = reference if self.column is None else row[self.column]
        try:
            met = bool(self.holds(value))
        except DataError as exc:
            raise DataError(f"{who}: {exc}") from exc
        except _FAULTS:
            met = False
        if not met:
            where = "the reference" if self.column is None else f"column {self.column!r}"
            raise DataError(f"{who} needs {self.said} as {where}, not {_shortened(value)}")


def keys(*names: str) -> Demand:
    """Return the demand for a mapping with some keys."""
    return Demand(f"a mapping with {' and '.join(names)}", lambda value: set(names) <= set(value) and isinstance(value, Mapping))


def number(column: str | None = None) -> Demand:
    """Return the demand for a number, or its text."""
    return Demand("a number", lambda value: not isinstance(value, bool) and float(value) == float(value), column)


def text(column: str) -> Demand:
    """Return the demand for text in a column."""
    return Demand("text", lambda value: isinstance(value, str), column)


WHOLE_NUMBER = Demand("a whole number", lambda value: not isinstance(value, bool) and int(value) == float(value))
SINGLE_VALUE = Demand("a single value", lambda value: not isinstance(value, list | dict))
ENTRIES = Demand("a list with at least one entry", lambda value: isinstance(value, Sequence) and len(value) > 0)
TEXTS = Demand("text or a list of texts", lambda value: all(isinstance(part, str) for part in value))


def _shortened(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 80 else f"{said[:77]}…"
