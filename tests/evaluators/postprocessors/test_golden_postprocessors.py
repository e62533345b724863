"""Every recorded postprocessor gives what was recorded, up to the listed exceptions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from evaluators.postprocessors.recorded import RECORDED
from leaderflow.core.registry import known, resolve
from tests.golden import golden, run_cases

EXCEPTED: dict[str, str] = {}
"""Recorded function → why it is not matched. The list may only shrink."""


def same(expected: Any, got: Any) -> bool:
    if isinstance(expected, dict) and "__float__" in expected:
        expected = float(expected["__float__"])
    if isinstance(expected, dict) and isinstance(got, dict):
        return expected.keys() == got.keys() and all(same(v, got[k]) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(got, list | tuple):
        return len(expected) == len(got) and all(same(e, g) for e, g in zip(expected, got, strict=True))
    if isinstance(expected, float) and isinstance(got, int | float):
        return math.isclose(expected, got, rel_tol=1e-6, abs_tol=1e-9) or (math.isnan(expected) and math.isnan(got))
    return type(expected) is type(got) and bool(expected == got)


def check(case: dict[str, Any]) -> str | None:
    function: Callable[..., Any] = resolve("postprocessor", RECORDED[case["function"]])
    given = case["input_output_dict"] if "input_output_dict" in case else case["input"]
    try:
        got = function(given, **case["kwargs"])
    except Exception as exc:  # a recorded error asks for any error
        return None if "expected_error" in case else f"{case['function']} {given!r}: raised {exc!r}"
    if "expected_error" in case:
        return f"{case['function']} {given!r}: {got!r} instead of {case['expected_error']['class']}"
    return (
        None
        if same(case["expected"], got)
        else f"{case['function']} {case['kwargs']} {given!r}: {got!r}, recorded {case['expected']!r}"
    )


@pytest.mark.golden
def test_recorded_postprocessors():
    cases = golden("postprocessors.jsonl")
    run_cases("postprocessors", cases, check, lambda case: EXCEPTED.get(case["function"]))


def test_every_recorded_name_is_registered():
    assert set(RECORDED.values()) <= set(known("postprocessor"))
    for name in known("postprocessor"):
        assert callable(resolve("postprocessor", name))
