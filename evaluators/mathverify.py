r"""Mathematical answers compared by algebra with math-verify, in worker processes with a limit a sample. 0–100, more is better."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from evaluators.base import Rating
from evaluators.exact import Accuracy
from evaluators.workers import run_limited
from leaderflow.core.types import Row

_LIMIT = 10.0
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,8})")
"""A whole number as everybody writes it, within what math-verify compares exactly."""
_BOXED_NUMBER = re.compile(rf"\\boxed\{{({_NUMBER.pattern})\}}\$?\.?\s*(?:\n|\Z)")

AT_ONCE = 4000
"""Answers that are handed to the workers together: they idle at the end of each such block."""

Settles = Callable[[str, str], bool | None]


class MATHVerifyEvaluator(Accuracy):
    r"""math-verify of the answer behind an anchor (``\boxed{}``, ``$…$`` after "answer is") against ``$reference$`` (OpenCompass).

    Follows the accuracy reward of Open-R1: latex answers only, boxes first, nothing without an anchor. A sample whose reference
    cannot be read is wrong. Ten seconds a sample, then it is wrong.
    """

    block = AT_ONCE

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return right or wrong for all answers, repeated pairs judged once; two whole numbers need no algebra."""
        return rated(verified, predictions, references, whole_numbers)


def rated(
    judge: Callable[[str, str], bool], predictions: Sequence[Any], references: Sequence[Any], settles: Settles | None = None
) -> list[Rating]:
    """Return right or wrong by a judge of (answer, reference) that runs in worker processes.

    Args:
        judge: a module-level function.
        predictions: the answers.
        references: theirs.
        settles: what the judge would say where that can be told here; None where only it can tell.
    """
    pairs = [(str(p), str(r)) for p, r in zip(predictions, references, strict=True)]
    verdicts = {pair: settles(*pair) if settles else None for pair in dict.fromkeys(pairs)}
    unsettled = [pair for pair, verdict in verdicts.items() if verdict is None]
    judged = run_limited(judge, unsettled, limit=_LIMIT, fallback=False, warm=library)
    verdicts |= dict(zip(unsettled, judged, strict=True))
    return [Rating({"accuracy": float(bool(verdicts[pair]))}, bool(verdicts[pair])) for pair in pairs]


def whole_numbers(prediction: str, reference: str) -> bool | None:
    """Return math-verify's verdict on an answer whose only box holds a whole number and ends its line, None on any other."""
    box = _BOXED_NUMBER.search(prediction)
    if box is None or prediction.count("boxed") != 1 or not _NUMBER.fullmatch(reference):
        return None
    return int(box[1]) == int(reference)


def verified(prediction: str, reference: str) -> bool:
    """Return whether math-verify takes an anchored answer for the reference."""
    parse, verify = library()
    gold = parse(f"${reference}$", extraction_config=_configs()[0], extraction_mode="first_match", parsing_timeout=None)
    if not gold:
        return False
    answer = parse(prediction, extraction_config=_configs()[1], extraction_mode="first_match", parsing_timeout=None)
    return bool(verify(_unscaled(answer), _unscaled(gold), timeout_seconds=None))


def _unscaled(parsed: list[Any]) -> list[Any]:
    """Keep a percentage as text alone, as recorded: 50 per cent is not 50."""
    return [part for part in parsed if isinstance(part, str) or not str(parsed[-1]).endswith("%")]


@cache
def library() -> tuple[Any, Any]:
    """math-verify's parse and verify; the worker's limit replaces their timers, about which they would warn."""
    import logging

    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return parse, verify


@cache
def _configs() -> tuple[list[Any], list[Any]]:
    """What may be read from a reference, and from an answer."""
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import ExprExtractionConfig, LatexExtractionConfig

    form = NormalizationConfig(nits=False, malformed_operators=False, basic_latex=True, boxed="all", units=True)
    answer = LatexExtractionConfig(normalization_config=form, boxed_match_priority=0, try_extract_without_anchor=False)
    return [LatexExtractionConfig(), ExprExtractionConfig()], [answer]


class OlympiadBenchEvaluator(Accuracy):
    """Lists of expressions equal in any order, by text, number (1e-8) or algebra (the OlympiadBench judge; He et al. 2024).

    Args:
        version: ``v1`` or ``v2`` (recorded; both judge alike).
    """

    block = AT_ONCE

    def __init__(self, version: str = "v1") -> None:
        self.version = version

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return right or wrong for all answers."""
        return rated(olympiad, predictions, references)


def olympiad(prediction: str, reference: str) -> bool:
    """Return whether two lists of expressions hold the same ones."""
    left, right = _expressions(prediction), _expressions(reference)
    if len(left) != len(right):
        return False
    for wanted in right:
        match = next((i for i, given in enumerate(left) if given == wanted or _equal(given, wanted)), None)
        if match is None:
            return False
        del left[match]
    return True


def _expressions(text: str) -> list[str]:
    """The boxed texts, else those between dollar signs, else the whole, split at commas outside of brackets."""
    found = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", text) or re.findall(r"\$(.*?)\$", text) or [text]
    return [part.strip() for whole in found for part in _split(whole) if part.strip()]


def _split(text: str) -> list[str]:
    depth, parts = 0, [""]
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _equal(left: str, right: str) -> bool:
    parse, verify = library()
    sides = [parse(f"${side}$", parsing_timeout=None) for side in (right, left)]
    return all(sides) and bool(verify(sides[0], sides[1], float_rounding=8, timeout_seconds=None))
