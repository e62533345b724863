"""Overlap of words between answer and reference. All: 0–100, more is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from evaluators.normalise import chinese_words, squad
from evaluators.ratings import Ratings
from leaderflow.core.types import Row


def token_f1(answer: Sequence[str], gold: Sequence[str], ignored: Collection[str] = ()) -> float:
    """Return the harmonic mean of precision and recall of the common words, 0 without any (Rajpurkar et al. 2016).

    Args:
        answer: words of the prediction.
        gold: words of the reference.
        ignored: words that never count as common.
    """
    same = sum(n for word, n in (Counter(answer) & Counter(gold)).items() if word not in ignored)
    return 2 * same / (len(answer) + len(gold)) if same else 0.0


class SquadEvaluator(Evaluator):
    """Token F1 of the first line against one reference (OpenCompass ``SquadEvaluator``; Rajpurkar et al. 2016)."""

    metric = "f1"

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the F1 of one answer."""
        return token_f1(squad(str(prediction).split("\n")[0]).split(), squad(str(reference)).split())


class LongBenchF1Evaluator(Evaluator):
    """Token F1, the best over the references (LongBench's ``qa_f1_score`` and ``qa_f1_zh_score``; Bai et al. 2023).

    Args:
        language: ``en`` splits at blanks after SQuAD cleaning, ``zh`` cuts words with jieba.
    """

    metric = "score"
    ignored: ClassVar[Collection[str]] = ()

    def __init__(self, language: str = "en") -> None:
        self.language = language

    def words(self, text: Any) -> list[str]:
        """Return the words of a text."""
        return squad(str(text)).split() if self.language == "en" else chinese_words(str(text))

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the F1 of one answer."""
        answer = self.words(prediction)
        return max((token_f1(answer, self.words(gold), self.ignored) for gold in reference), default=0.0)


class LVEvalF1Evaluator(LongBenchF1Evaluator):
    """Token F1 against the first reference (OpenCompass ``LVEvalF1Evaluator``; Yuan et al. 2024)."""

    metric = "f1"

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the F1 of one answer."""
        return token_f1(self.words(prediction), self.words(reference[0]))


class F1ScoreEvaluator(Evaluator):
    """Micro F1 of the options chosen (OpenCompass ``F1ScoreEvaluator``, SeedBench; Ying et al. 2025).

    Only the letters a–d and commas of a text are looked at; options stand between commas.
    """

    metric = "F1Score"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the F1 of one answer, and its counts (hits, excess, missing)."""
        chosen, right = _options(prediction), _options(reference)
        counts = (len(chosen & right), len(chosen - right), len(right - chosen))
        return Rating({self.metric: _f1(*counts)}, data=counts)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the F1 of the summed counts."""
        return {self.metric: 100 * _f1(*Ratings.of(ratings).totals())}


def _options(text: Any) -> set[str]:
    kept = "".join(char for char in str(text).lower() if char in "abcd,")
    return set(kept.split(","))


def _f1(hits: int, excess: int, missing: int) -> float:
    return 2 * hits / (2 * hits + excess + missing) if hits else 0.0
