"""Metrics of a whole set of answers: BLEU, Matthews' correlation, area under the ROC curve. Their errors are bootstrapped."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.types import Row


class BleuEvaluator(Evaluator):
    """Corpus BLEU by sacrebleu's defaults, 0–100, more is better (Papineni et al. 2002; Post 2018)."""

    tokenizer: ClassVar[str] = "13a"
    units = {"bp": (1.0, True), "sys_len": (None, True), "ref_len": (None, True)}  # noqa: RUF012

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the n-gram counts of one answer; several references are a list."""
        golds = list(reference) if isinstance(reference, list) else [reference]
        found = _bleu(self.tokenizer).corpus_score([str(prediction)], [[str(gold)] for gold in golds])
        return Rating(data=(*found.counts, *found.totals, found.sys_len, found.ref_len))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return BLEU of the summed counts."""
        sums = list(Ratings.of(ratings).totals())
        found = _bleu(self.tokenizer).compute_bleu(sums[:4], sums[4:8], sums[8], sums[9], smooth_method="exp")
        return {"score": found.score, "bp": found.bp, "sys_len": found.sys_len, "ref_len": found.ref_len}


class BleuFloresEvaluator(BleuEvaluator):
    """Corpus BLEU over the pieces of FLORES-200's SentencePiece model, 0–100, more is better (spBLEU; NLLB Team 2022).

    As OpenCompass' ``BleuFloresEvaluator``: sacrebleu with its tokenizer ``flores200``, whose model is not part of sacrebleu.

    Raises:
        SpecError: SentencePiece is not installed, or its model is not there; nothing is downloaded while scoring.
    """

    tokenizer = "flores200"

    def __init__(self) -> None:
        from importlib.util import find_spec

        from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
        from sacrebleu.utils import SACREBLEU_DIR

        url = SPM_MODELS[self.tokenizer]["url"]
        file = Path(SACREBLEU_DIR) / "models" / url.rpartition("/")[2]
        if find_spec("sentencepiece") is None:
            raise SpecError("needs SentencePiece: pip install sentencepiece", key="BleuFloresEvaluator")
        if not file.exists():
            raise SpecError(f"needs the tokenizer of FLORES-200: put {url} at {file}", key="BleuFloresEvaluator")


@cache
def _bleu(tokenizer: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=tokenizer, smooth_method="exp")


class MccEvaluator(Evaluator):
    """Matthews' correlation for any number of classes, −100 to 100, more is better (Matthews 1975; Gorodkin 2004)."""

    metric = "matthews_correlation"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the pair of classes."""
        return Rating(data=(str(prediction), str(reference)))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the correlation; 0 where one side has one class only."""
        return {self.metric: 100 * matthews(Ratings.of(ratings).data)}


def matthews(pairs: Sequence[tuple[Any, Any]]) -> float:
    """Return the multi-class correlation of (predicted, true) pairs, 0 where it does not exist."""
    n, right = len(pairs), sum(a == b for a, b in pairs)
    predicted, true = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    joint = sum(predicted[label] * true[label] for label in predicted)
    spread = (n * n - sum(v * v for v in predicted.values())) * (n * n - sum(v * v for v in true.values()))
    return (right * n - joint) / math.sqrt(spread) if spread else 0.0


class AUCROCEvaluator(Evaluator):
    """Area under the ROC curve of the second class's probability, and accuracy: 0–100, more is better (Hanley & McNeil 1982)."""

    metric = "auc_score"
    blank = (0.5, 0.5)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the probability of class 1, the true class and whether the likelier class is right."""
        right = max(range(len(prediction)), key=prediction.__getitem__) == int(reference)
        return Rating(data=(float(prediction[1]), int(reference), right))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return both numbers.

        Raises:
            DataError: only one class is present, so there is no curve.
        """
        data = Ratings.of(ratings).data
        ranked = ranks([row[0] for row in data])
        positive = [rank for rank, row in zip(ranked, data, strict=True) if row[1] == 1]
        p, n = len(positive), len(ratings) - len(positive)
        if not p or not n:
            raise DataError("only one class is present among the references: the ROC curve does not exist")
        area = (sum(positive) - p * (p + 1) / 2) / (p * n)
        return {"auc_score": 100 * area, "accuracy": 100 * sum(row[2] for row in data) / len(data)}


def ranks(values: Sequence[float]) -> list[float]:
    """Return the ranks from 1 on, ties sharing their mean."""
    order, ranks, start = sorted(range(len(values)), key=values.__getitem__), [0.0] * len(values), 0
    while start < len(order):
        stop = start
        while stop < len(order) and values[order[stop]] == values[order[start]]:
            stop += 1
        for position in order[start:stop]:
            ranks[position] = (start + stop + 1) / 2
        start = stop
    return ranks
