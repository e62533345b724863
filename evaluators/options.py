"""Choice among options whose letter must first be read off the answer. All 0–100, more is better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evaluators.base import Rating
from evaluators.exact import Accuracy
from evaluators.postprocessors.options import first_option
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.types import Row


class OptionSimAccEvaluator(Accuracy):
    """The option's letter, else a pattern that names it, else the only option text in the answer, else the nearest text.

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
        if named := first_option(text, "".join(self.options), cushion=False):
            return named
        contained = [option for option, words in texts.items() if words.strip() and words in text]
        if len(contained) == 1:
            return contained[0]
        return min(texts, key=lambda option: Levenshtein.distance(text, texts[option]), default="")


class PMMEvalXNLIEvaluator(Accuracy):
    """The letter that the answer names in its language; two decimals (OpenCompass; P-MMEval, Zhang et al. 2024).

    Answers are [text, language]; references are letters, or their numbers from 0.
    """

    @property
    def averages(self) -> bool:
        """Errors are those of the mean before rounding."""
        return True

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the letter read off the answer is the reference."""
        gold = "ABCDEFGHIJ"[reference] if isinstance(reference, int) else str(reference)
        return self.letter(str(prediction[0]) if prediction else "") == gold

    def letter(self, text: str) -> str:
        """Return the letter, or nothing."""
        return named_letter(text)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the accuracy, rounded."""
        return {name: round(value, 2) for name, value in super().combine(ratings).items()}


class PMMEvalMMMLUEvaluator(PMMEvalXNLIEvaluator):
    """As ``PMMEvalXNLIEvaluator``, for multilingual MMLU."""


class PMMEvalMHellaswagEvaluator(PMMEvalXNLIEvaluator):
    """As ``PMMEvalXNLIEvaluator``, for multilingual HellaSwag."""


class PMMEvalMLogiQAEvaluator(PMMEvalXNLIEvaluator):
    """As ``PMMEvalXNLIEvaluator``, for multilingual LogiQA. Recorded: an answer without a letter is an error."""

    def letter(self, text: str) -> str:
        """Return the letter.

        Raises:
            DataError: the answer names none.
        """
        if not (found := named_letter(text)):
            raise DataError("PMMEvalMLogiQAEvaluator found no option in an answer; the recorded evaluator cannot score such a set")
        return found


class PMMEvalMGSMEvaluator(PMMEvalXNLIEvaluator):
    """The last number of the text as text, thousands separators removed, for multilingual GSM8K."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the last number is the reference."""
        numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", str(prediction))
        return bool(numbers) and numbers[-1].replace(",", "") == str(reference).replace(",", "")


_NAMED = (
    r"\{\s*[\"']?answer[\"']?\s*:\s*[\"']?\s*([A-J])\b",
    r"(?i:answer\s*(?:is|:))\s*[(\"']?\s*([A-J])\b",
    r"(?:答案|选项|选)\s*(?:是|为|：|:)?\s*[（(\"']?\s*([A-J])",
    r"^\s*([A-J])\s*$",
)


def named_letter(text: str) -> str:
    """Return the capital letter that a JSON answer, an answer phrase or the whole text names, or nothing."""
    return next((found.group(1) for pattern in _NAMED if (found := re.search(pattern, text))), "")
