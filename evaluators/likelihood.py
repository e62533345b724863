"""Means over likelihoods. Numbers come from the row where it has the column, else from what the model measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from leaderflow.core.types import Row


class AveragePPLEvaluator(Evaluator):
    """Mean of the samples' mean token losses in nats, from 0 on, less is better (OpenCompass ``AveragePPLEvaluator``)."""

    metric = "average_ppl"
    scale = None
    higher_is_better = False
    column: ClassVar[str] = "ppl"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the loss of one sample."""
        return Rating(data=(float(row.get(self.column, prediction)), 1.0))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return total loss over total weight."""
        return {self.metric: math.fsum(r.data[0] for r in ratings) / math.fsum(r.data[1] for r in ratings)}


class AverageMinKEvaluator(AveragePPLEvaluator):
    """Mean of the samples' Min-K% losses, less is better (OpenCompass ``AverageMinKEvaluator``; Shi et al. 2023)."""

    metric = "average_mink"
    column = "mink"


class AverageInferencePPLEvaluator(AveragePPLEvaluator):
    """Total loss over total tokens, less is better (OpenCompass ``AverageInferencePPLEvaluator``). Needs ``token_len``."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the loss of one sample and its tokens."""
        return Rating(data=(float(row.get(self.column, prediction)), float(row["token_len"])))


class BPCEvaluator(AveragePPLEvaluator):
    """Bits per character: total loss over ln 2 and the characters of the corpus, less is better (OpenCompass ``BPCEvaluator``).

    The rows hold ``loss`` (nats) and ``total_chr_num``; characters are those of the first row, which counts the whole corpus.
    """

    metric = "bpc"
    column = "loss"
    needs = frozenset({"total_chr_num"})

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the loss of one window and the corpus's characters."""
        return Rating(data=(float(row.get(self.column, prediction)), float(row["total_chr_num"])))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the bits per character."""
        return {self.metric: math.fsum(r.data[0] for r in ratings) / (ratings[0].data[1] * math.log(2))}
