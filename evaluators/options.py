"""Choice among options whose letter must first be read off the answer. All 0–100, more is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from evaluators.base import Rating
from evaluators.exact import Accuracy
from evaluators.normalise import postprocessor
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.types import Row


class OptionSimAccEvaluator(Accuracy):
    """The option's letter; else a pattern that names it; else the only option text in the answer; else the nearest text (OpenCompass).

    The row holds each option's text under its letter. The last step always answers something.

    Args:
        options: single capital letters.
    """

    def __init__(self, options: Sequence[str]) -> None:
        if bad := [option for option in options if len(option) != 1 or not "A" <= option <= "Z"]:
            raise SpecError(f"each option must be a single capital letter, got {bad[0]!r}")
        self.options = list(options)
        self.needs = frozenset(options)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, with the letter found as detail."""
        letter = self.letter(str(prediction), {o: str(row[o]) for o in self.options if row.get(o) is not None})
        return Rating({self.metric: float(letter == reference)}, letter == reference, {"parsed": letter})

    def letter(self, text: str, texts: dict[str, str]) -> str:
        """Return the letter an answer means."""
        from rapidfuzz.distance import Levenshtein

        if text in self.options:
            return text
        if named := postprocessor("first-option")(text, options="".join(self.options), cushion=False):
            return str(named)
        contained = [option for option, words in texts.items() if words.strip() and words in text]
        if len(contained) == 1:
            return contained[0]
        return min(texts, key=lambda option: Levenshtein.distance(text, texts[option]), default="")


class PMMEval(Accuracy):
    """Base of the P-MMEval choice tasks (Zhang et al. 2024): answers are [text, language], accuracy in two decimals."""

    reader: ClassVar[str]

    @property
    def averages(self) -> bool:
        """Errors are those of the mean before rounding."""
        return True

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the letter read off the answer is the reference (a letter, or its number from 0)."""
        text, language = prediction
        gold = "ABCDEFGHIJ"[reference] if isinstance(reference, int) else str(reference)
        return self.letter(postprocessor(self.reader)(text, language)) == gold

    def letter(self, found: Any) -> str:
        """Return the letter of what the reader found."""
        return str(found or "").strip().upper()

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the accuracy, rounded."""
        return {name: round(value, 2) for name, value in super().combine(ratings).items()}


class PMMEvalMMMLUEvaluator(PMMEval):
    """Letter of a multilingual MMLU answer (OpenCompass ``PMMEvalMMMLUEvaluator``)."""

    reader = "pmmeval_mmmlu_postprocess"


class PMMEvalXNLIEvaluator(PMMEval):
    """Letter of an XNLI answer (OpenCompass ``PMMEvalXNLIEvaluator``)."""

    reader = "pmmeval_xnli_postprocess"


class PMMEvalMHellaswagEvaluator(PMMEval):
    """Letter of a multilingual HellaSwag answer (OpenCompass ``PMMEvalMHellaswagEvaluator``)."""

    reader = "pmmeval_mhellaswag_postprocess"


class PMMEvalMLogiQAEvaluator(PMMEval):
    """Letter of a multilingual LogiQA answer (OpenCompass ``PMMEvalMLogiQAEvaluator``). Recorded: no letter is an error."""

    reader = "pmmeval_mlogiqa_postprocess"

    def letter(self, found: Any) -> str:
        """Return the letter.

        Raises:
            DataError: the answer names none.
        """
        if not found:
            raise DataError("PMMEvalMLogiQAEvaluator found no option in an answer; the recorded evaluator cannot score such a set")
        return super().letter(found)
