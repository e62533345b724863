"""Share of answers equal to the reference, by several notions of equal. All: 0–100, more is better, right or wrong."""

from __future__ import annotations

from typing import Any

from evaluators.base import Evaluator
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row


class Accuracy(Evaluator):
    """Base of evaluators with one yes-or-no verdict a sample, reported as ``accuracy``."""

    metric = "accuracy"


class AccEvaluator(Accuracy):
    """Equality of the text forms: 1 equals "1", but not 1.0 (OpenCompass ``AccEvaluator``; the ``accuracy`` metric of evaluate)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether str(prediction) equals str(reference)."""
        if isinstance(prediction, list | dict) or isinstance(reference, list | dict):
            raise DataError(
                f"AccEvaluator compares single values, got {prediction!r} and {reference!r}; use an evaluator for lists"
            )
        return str(prediction) == str(reference)


class AccwithDetailsEvaluator(Accuracy):
    """Equality without any conversion: 1 is not "1" (OpenCompass ``AccwithDetailsEvaluator``)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether prediction equals reference."""
        return bool(prediction == reference)


class Gsm8kEvaluator(Accuracy):
    """The same text, or a number within 1e-6 of the whole-number reference (OpenCompass ``Gsm8kEvaluator``; Cobbe et al. 2021)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the two are the same text or number."""
        if prediction == reference:
            return True
        try:
            return abs(float(prediction) - int(reference)) < 1e-6
        except (TypeError, ValueError, OverflowError):
            return False
