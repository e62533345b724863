"""The table of checks: instruction id → function(text, **arguments) → followed or not."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from leaderflow.core.errors import DataError, did_you_mean

Check = Callable[..., bool]

CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    """Register a function as the check of an instruction."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return register


def follows(name: str, text: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a text follows an instruction; arguments that are None are left out.

    Raises:
        DataError: an instruction that is not known, or an argument that is missing.
    """
    function, given = _found(name, arguments)
    return bool(function(text, **given))


def checkable(name: str, arguments: Mapping[str, Any]) -> None:
    """See that an instruction is known and has its arguments.

    Raises:
        DataError: as `follows`.
    """
    _found(name, arguments)


def _found(name: str, arguments: Mapping[str, Any]) -> tuple[Check, dict[str, Any]]:
    from evaluators.instructions import (  # noqa: F401  they register themselves
        ifbench_checks,
        ifbench_layout,
        ifbench_ratios,
        ifbench_tasks,
        ifeval_checks,
    )

    if name not in CHECKS:
        raise DataError(f"unknown instruction {name!r}{did_you_mean(str(name), CHECKS)}")
    given = {key: value for key, value in arguments.items() if value is not None}
    try:
        _signature(CHECKS[name]).bind("", **given)
    except TypeError as exc:
        raise DataError(f"instruction {name} cannot be checked with {given!r}: {exc}") from exc
    return CHECKS[name], given


_signature = functools.cache(inspect.signature)


def compare(number: int, limit: float, relation: str = "at least") -> bool:
    """Return whether a number is ``at least`` or ``less than`` a limit."""
    return number < limit if relation == "less than" else number >= limit
