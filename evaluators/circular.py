"""Choice questions asked once for each rotation of their options (CircularEval; Liu et al. 2023). All 0–100, more is better.

A pattern such as ``BCDA`` says which original option is shown as A, B, C and D.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import permutations
from math import factorial
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.demands import Demand
from evaluators.postprocessors.options import first_option
from evaluators.ratings import Ratings
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Row

_LETTERS = "ABCD"
_PATTERNS = {"1": ("ABCD",), "4": ("ABCD", "BCDA", "CDAB", "DABC")}


def _is_rotated(reference: str) -> bool:
    parts = str(reference).split("--")
    return len(parts) == 3 and parts[1] in tuple(_LETTERS) and sorted(parts[2]) == list(_LETTERS)


def _is_pattern(value: str | Sequence[str]) -> bool:
    return len(value) > 1 and len(set(value)) == len(value)


class CircularEvaluator(Evaluator):
    """acc, perf, more, vote over the original order (``_1``) and all four rotations (``_4``), and how often each letter is chosen.

    References are ``id--letter--pattern`` (OpenCompass' ``CircularEvaluator``). perf: all rotations of a question right; more_4_j:
    at least j right; vote: the original option chosen most often, first one in ties. Recorded: acc_1 divides by a quarter of the
    rows, whichever patterns are present.
    """

    metric = "acc_4"
    demands = (Demand("id--letter--pattern, such as 7--B--BCDA,", _is_rotated),)

    def clean(self, prediction: Any) -> str:
        """Return the chosen letter, ``-`` for anything else."""
        return prediction if isinstance(prediction, str) and prediction in tuple(_LETTERS) else "-"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, and what the numbers over questions need."""
        question, label, pattern = str(reference).split("--")
        chosen = self.clean(prediction)
        original = _original(chosen, pattern)
        right = chosen == label
        return Rating({"acc_4": float(right)}, right, data=(question, pattern, chosen, original, _original(label, pattern), right))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return all numbers."""
        found: dict[str, float] = {}
        data = Ratings.of(ratings).data
        for size, patterns in reversed(_PATTERNS.items()):
            found |= _circular(size, patterns, data)
        chosen = Counter(row[2] for row in data)
        return found | {f"prior_{letter}": 100 * chosen[letter] / len(ratings) for letter in (*_LETTERS, "-")}


def _original(letter: str, pattern: str) -> str:
    return pattern[_LETTERS.index(letter)] if letter in tuple(_LETTERS) else "-"


def _circular(size: str, patterns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, float]:
    questions: dict[str, list[tuple[Any, ...]]] = {row[0]: [] for row in rows}
    for row in rows:
        if row[1] in patterns:
            questions[row[0]].append(row)
    hits = [sum(row[5] for row in asked) for asked in questions.values()]
    votes = [bool(asked) and Counter(row[3] for row in asked).most_common(1)[0][0] == asked[0][4] for asked in questions.values()]
    scale = 100 / len(questions)
    found = {f"acc_{size}": 100 * sum(hits) / (len(rows) * len(patterns) / 4)}
    found[f"perf_{size}"] = scale * sum(n >= len(patterns) for n in hits)
    found[f"vote_{size}"] = scale * sum(votes)
    return found | {f"more_{size}_{j}": scale * sum(n >= j for n in hits) for j in range(len(patterns) + 1)}


class MathBenchCircularEvaluator(CircularEvaluator):
    """``CircularEvaluator`` over answers in free text (OpenCompass; MathBench, Liu et al. 2024)."""

    def clean(self, prediction: Any) -> str:
        """Return the first option the text names."""
        return super().clean(first_option(str(prediction), _LETTERS))


class DatasetCircularEvaluator(Evaluator):
    """acc, perf and more_j over the original order, the rotations and, if asked, all orders (the datasets' ``CircularEvaluator``).

    Rows hold ``circular_pattern`` (the letters, in the order shown), ``qid`` and ``options``.

    Args:
        circular_pattern: ``circular``, or ``all_possible`` for all orders too.
    """

    metric = "acc_origin"
    needs = frozenset({"circular_pattern", "qid"})
    demands = (Demand("letters, each one once,", _is_pattern, "circular_pattern"),)

    def __init__(self, circular_pattern: str = "circular") -> None:
        if circular_pattern not in ("circular", "all_possible"):
            raise SpecError(f"unknown circular_pattern {circular_pattern!r}: circular or all_possible", key="circular_pattern")
        self.kinds = ["origin", "circular"] + (["all_possible"] if circular_pattern == "all_possible" else [])

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong with question and pattern."""
        right = prediction == reference
        return Rating({self.metric: float(right)}, right, data=(row["qid"], tuple(row["circular_pattern"]), right))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the numbers of each kind of pattern."""
        found: dict[str, float] = {}
        data = Ratings.of(ratings).data
        for kind in self.kinds:
            found |= self._kind(kind, data)
        return found

    def _kind(self, kind: str, rows: Sequence[tuple[Any, tuple[str, ...], bool]]) -> dict[str, float]:
        hits: dict[Any, int] = defaultdict(int)
        asked, size = 0, len(rows[0][1])
        for question, pattern, right in rows:
            hits[question] += 0
            if _is_kind(kind, pattern):
                asked, hits[question] = asked + 1, hits[question] + right
        per_question = {"origin": 1, "circular": size, "all_possible": factorial(size)}[kind]
        scale, values = 100 / len(hits), list(hits.values())
        found = {f"acc_{kind}": 100 * sum(values) / asked if asked else 0.0}
        found[f"perf_{kind}"] = scale * sum(n == per_question for n in values)
        return found | {f"more_{j}_{kind}": scale * sum(n >= j for n in values) for j in range(1, per_question)}


def _is_kind(kind: str, pattern: tuple[str, ...]) -> bool:
    origin = tuple(sorted(pattern))
    if kind == "origin":
        return pattern == origin
    rotations = {origin[i:] + origin[:i] for i in range(len(origin))}
    return pattern in (rotations if kind == "circular" else set(permutations(origin)))
