"""Evaluators in the form of OpenCompass: one function from all predictions to a mapping of metrics, with optional details.

    class RangeEvaluator(WholeSet):
        \"\"\"Spread of the answers' lengths; from 0 on, less is better.\"\"\"

        metric, scale, higher_is_better = "spread", None, False

        def evaluate(self, predictions, references, rows):
            lengths = [len(text) for text in predictions]
            return {"spread": max(lengths) - min(lengths)}

``details`` in the result is a list with one mapping a prediction (``correct`` or ``is_correct``, or ``score``), or such mappings
under "0", "1", … Errors are bootstrapped: the function is called again on resampled answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row


class WholeSet(Evaluator):
    """Base of evaluators that see all answers at once. These, with references and rows, are held in memory until all is scored."""

    uses_references = False
    block = None

    def evaluate(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> Mapping[str, Any]:
        """Return metric → number in its own unit, with ``details`` or ``error`` where there are some."""
        raise NotImplementedError

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return the details as ratings, each with what `evaluate` needs to see it again."""
        details = _listed(self._checked(predictions, references, rows).get("details"), len(predictions))
        triples = zip(predictions, references, rows, strict=True)
        return [self._detailed(detail, triple) for detail, triple in zip(details, triples, strict=True)]

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the numbers among the metrics."""
        columns = [list(column) for column in zip(*Ratings.of(ratings).data, strict=True)]
        found = self._checked(*columns)
        return {name: value for name, value in found.items() if isinstance(value, int | float)}

    def _checked(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> Mapping[str, Any]:
        found = self.evaluate(predictions, references, rows)
        if "error" in found:
            raise DataError(f"{type(self).__name__}: {found['error']}")
        return found

    def _detailed(self, detail: Mapping[str, Any], triple: tuple[Any, Any, Row]) -> Rating:
        verdict = detail.get("correct", detail.get("is_correct"))
        if isinstance(verdict, bool):
            return Rating({self.metric: float(verdict)}, verdict, dict(detail), triple)
        score = detail.get("score")
        values = {self.metric: float(score)} if isinstance(score, int | float) and 0 <= score <= 1 else {}
        return Rating(values, None, dict(detail) or None, triple)


def _listed(details: Any, size: int) -> list[Mapping[str, Any]]:
    if isinstance(details, Mapping):
        details = [details[key] for key in map(str, range(size)) if key in details]
    if not details:
        return [{}] * size
    if len(details) != size:
        raise DataError(f"{len(details)} details for {size} predictions: each needs one, in order")
    return list(details)
