"""ROUGE (Lin 2004) by the three libraries of the field, which differ in words, stems and smoothing. 0–100, more is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.normalise import cut
from evaluators.postprocessors.lines import general
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row


def rouge_l(answer: str, gold: str) -> float:
    """Return ROUGE-L's F by the ``rouge`` package, words between blanks; 0 for a text without words."""
    return _rouge(answer, gold)["rouge-l"]["f"] if answer.strip() and gold.strip() else 0.0


def chinese_rouge_l(answer: str, gold: str) -> float:
    """Return ROUGE-L's F by ``rouge_chinese`` over words cut by jieba; 0 for an empty answer.

    Raises:
        DataError: the reference is empty.
    """
    cut_answer, cut_gold = " ".join(cut(answer)), " ".join(cut(gold))
    if not cut_gold.strip():
        raise DataError("a reference is empty: ROUGE does not exist for it")
    return float(_chinese().get_scores([cut_answer], [cut_gold])[0]["rouge-l"]["f"]) if cut_answer.strip() else 0.0


def _rouge(answer: str, gold: str) -> Mapping[str, Mapping[str, float]]:
    try:
        return _english().get_scores([answer], [gold], avg=True)  # type: ignore[no-any-return]
    except ValueError:  # the package refuses texts of which only full stops remain
        return {name: {"f": 0.0} for name in ("rouge-1", "rouge-2", "rouge-l")}


@cache
def _english() -> Any:
    from rouge import Rouge

    return Rouge()


@cache
def _chinese() -> Any:
    from rouge_chinese import Rouge

    return Rouge()


class RougeEvaluator(Evaluator):
    """Google's ``rouge_score`` without stems: rouge1, rouge2, rougeL, rougeLsum (OpenCompass ``RougeEvaluator``).

    Recorded: the value is the median of 1,000 bootstrapped means, seed 0, as the ``rouge`` metric of evaluate gives it.
    """

    metric = "rouge1"

    def observe(self, prediction: Any, reference: Any, row: Row) -> dict[str, float]:
        """Return the four F-measures of one answer."""
        return {name: score.fmeasure for name, score in _google().score(str(reference), str(prediction)).items()}

    @property
    def averages(self) -> bool:
        """Errors are those of the plain means."""
        return True

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the bootstrap medians of the four means."""
        import numpy as np

        draws, n, columns = np.random.RandomState(0), len(ratings), Ratings.of(ratings)
        found = {}
        for name in columns.names:
            values = np.array(columns.numbers(name))
            means = [values[draws.choice(np.arange(n), size=n)].mean() for _ in range(1000)]
            found[name] = 100 * float(np.percentile(means, 50))
        return found


class SummaryRouge(Evaluator):
    """Mean ROUGE-1, -2 and -L by Google's ``rouge_score`` with Porter stems, as summarisation papers report it; ours.

    Of several references the one that fits best counts, metric by metric.
    """

    metric = "rouge1"

    def observe(self, prediction: Any, reference: Any, row: Row) -> dict[str, float]:
        """Return the three F-measures of one answer."""
        golds = reference if isinstance(reference, list) else [reference]
        scores = [_google(stems=True).score(str(gold), str(prediction)) for gold in golds]
        return {name: max(score[name].fmeasure for score in scores) for name in ("rouge1", "rouge2", "rougeL")}


@cache
def _google(stems: bool = False) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=stems)


class JiebaRougeEvaluator(Evaluator):
    """``rouge_chinese`` over words cut by jieba, both texts cleaned by ``general`` first (OpenCompass ``JiebaRougeEvaluator``)."""

    metric = "rouge1"

    def observe(self, prediction: Any, reference: Any, row: Row) -> dict[str, float]:
        """Return the three F-measures of one answer; an empty text is replaced by a word of its own."""
        answer, gold = " ".join(cut(general(str(prediction)))), " ".join(cut(general(str(reference))))
        scores = _chinese().get_scores([answer.strip() or "__PREDPLACEHOLDER__"], [gold.strip() or "__REFRPLACEHOLDER__"], avg=True)
        return {name: scores[key]["f"] for name, key in (("rouge1", "rouge-1"), ("rouge2", "rouge-2"), ("rougeL", "rouge-l"))}


class LongBenchRougeEvaluator(Evaluator):
    """ROUGE-L, the best over the references (LongBench's ``rouge_score`` and ``rouge_zh_score``; Bai et al. 2023).

    Args:
        language: ``en`` splits at blanks, ``zh`` cuts words with jieba.
    """

    metric = "score"

    def __init__(self, language: str = "en") -> None:
        self.language = language

    def words(self, text: Any) -> str:
        """Return a text with blanks between its words."""
        return str(text) if self.language == "en" else " ".join(cut(str(text)))

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the ROUGE-L of one answer."""
        answer = self.words(prediction)
        return max((rouge_l(answer, self.words(gold)) for gold in reference), default=0.0)


class AverageRougeScoreEvaluator(Evaluator):
    """``rouge_chinese``'s ROUGE-L over jieba's words (OpenCompass ``AverageRougeScoreEvaluator``; SeedBench, Ying et al. 2025)."""

    metric = "AvgRougeScore"

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the ROUGE-L of one answer; 0 for an empty answer."""
        return chinese_rouge_l(str(prediction), str(reference))
