r"""Answers in biology data sets and TheoremQA. Biodata answers are read from the last ``\boxed{}`` only."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import fmean
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from evaluators.corpus import matthews, ranks
from evaluators.demands import number
from evaluators.postprocessors.latex import biology_boxed, boxed_number
from evaluators.ratings import Ratings
from leaderflow.core.types import Row

_YES_NO = {"positive": "yes", "negative": "no"}


class BiodataAccEvaluator(Evaluator):
    """The boxed word is the reference, whatever its case; 0–100, more is better (OpenCompass ``BiodataAccEvaluator``)."""

    metric = "acc"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong."""
        found = biology_boxed(str(prediction))
        right = found is not None and _word(found) == _word(reference)
        return Rating({self.metric: float(right)}, right, {"pred": found})


class BiodataClsEvaluator(BiodataAccEvaluator):
    """As ``BiodataAccEvaluator``, reported as ``score`` (OpenCompass ``BiodataClsEvaluator``)."""

    metric = "score"


class BiodataStringEvaluator(BiodataAccEvaluator):
    """As ``BiodataAccEvaluator``, reported as ``f1`` (OpenCompass ``BiodataStringEvaluator``)."""

    metric = "f1"


def _word(text: Any) -> str:
    word = str(text).strip().lower()
    return _YES_NO.get(word, word)


class BiodataMCCEvaluator(Evaluator):
    """Matthews' correlation of positive and negative, −100 to 100, more is better (OpenCompass ``BiodataMCCEvaluator``).

    An answer that cannot be read counts as the opposite of the reference.
    """

    metric = "mcc"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, and the pair of classes."""
        gold, found = _word(reference) == "yes", biology_boxed(str(prediction))
        named = _word(found) == "yes" if found is not None and _word(found) in ("yes", "no") else not gold
        return Rating({"score": float(named == gold)}, named == gold, {"pred": found}, (named, gold))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the correlation, 0 where it does not exist."""
        return {self.metric: 100 * matthews(Ratings.of(ratings).data)}


class BiodataSpearmanEvaluator(Evaluator):
    """Spearman's rank correlation of the boxed numbers, −100 to 100, more is better (Spearman 1904; OpenCompass).

    Recorded: only answers with a number are correlated, and the result is multiplied by their share.
    """

    metric = "spearman"
    demands = (number(),)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the pair of numbers."""
        found = boxed_number(str(prediction))
        return Rating(detail={"pred": found}, data=(found, float(reference)))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the correlation, 0 without any number, NaN without spread."""
        pairs = [(p, g) for p, g in Ratings.of(ratings).data if p is not None]
        if not pairs:
            return {self.metric: 0.0}
        correlation = _pearson(ranks([p for p, _ in pairs]), ranks([g for _, g in pairs]))
        return {self.metric: 100 * correlation * len(pairs) / len(ratings)}


def _pearson(left: Sequence[float], right: Sequence[float]) -> float:
    a, b = sum(left) / len(left), sum(right) / len(right)
    spread = math.sqrt(sum((x - a) ** 2 for x in left) * sum((y - b) ** 2 for y in right))
    return sum((x - a) * (y - b) for x, y in zip(left, right, strict=True)) / spread if spread else math.nan


class BiodataRMSEEvaluator(Evaluator):
    """Mean absolute error of the boxed numbers, from 0 on, less is better (OpenCompass ``BiodataRMSEEvaluator``).

    Recorded: the root is taken sample by sample, so this is no root of a mean. An answer without a number counts as 0.
    """

    scale: ClassVar[float | None] = None
    higher_is_better = False
    demands = (number(),)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the error of one answer."""
        found = boxed_number(str(prediction))
        return Rating(detail={"pred": found}, data=abs((found or 0.0) - float(reference)))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the mean error."""
        return {self.metric: fmean(Ratings.of(ratings).data)}


class TheoremQAEvaluatorV3(Evaluator):
    """The same text, or a number within 4 % of the reference; 0–100, more is better (TheoremQA's scorer; Chen et al. 2023)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the answer is right."""
        answer, gold = str(prediction).strip(), str(reference).strip()
        if answer.lower() == gold.lower():
            return True
        left, right = plain_number(answer), plain_number(gold)
        return left is not None and right is not None and abs(left - right) <= 0.04 * abs(right)


def plain_number(text: str) -> float | None:
    r"""Return a decimal number, a fraction ``a/b`` or ``\frac{a}{b}``, dollar signs and separators apart, or None."""
    bare = re.sub(r"\\[dt]?frac\{(-?[\d.]+)\}\{(-?[\d.]+)\}", r"\1/\2", text.replace("$", "").replace(",", "").strip())
    match = re.fullmatch(r"(-?\d*\.?\d+)(?:/(-?\d*\.?\d+))?", bare)
    if not match or (match[2] and not float(match[2])):
        return None
    return float(match[1]) / float(match[2] or 1)
