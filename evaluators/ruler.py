"""RULER (Hsieh et al. 2024): what share of the wanted texts stand in the answer, whatever their case. 0–100, more is better."""

from __future__ import annotations

import re
from typing import Any

from evaluators.base import Evaluator
from leaderflow.core.types import Row


class RulerNiahEvaluator(Evaluator):
    """Share of the references that the answer holds (the official ``string_match_all``)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the share for one answer."""
        found = self.found(prediction, reference)
        return sum(found) / len(found) if found else 0.0

    def found(self, prediction: Any, reference: Any) -> list[bool]:
        """Return which references the answer holds; control characters count as line breaks."""
        text = re.sub(r"[\x00-\x1f]", "\n", str(prediction)).strip().lower()
        wanted = reference if isinstance(reference, list) else [reference]
        return [str(part).lower() in text for part in wanted]


class RulerVtEvaluator(RulerNiahEvaluator):
    """Variable tracking: share of the variables named."""


class RulerCweEvaluator(RulerNiahEvaluator):
    """Common words: share of the words named."""


class RulerFweEvaluator(RulerNiahEvaluator):
    """Frequent words: share of the words named."""


class RulerQaEvaluator(RulerNiahEvaluator):
    """Questions: one of the accepted answers stands in the text (the official ``string_match_part``)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether an accepted answer was given."""
        return any(self.found(prediction, reference))
