"""Means over likelihoods. Numbers come from the row where it has the column, else from what the model measured."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from evaluators.demands import number
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row


class AveragePPLEvaluator(Evaluator):
    """Mean of the samples' mean token losses in nats, from 0 on, less is better (OpenCompass ``AveragePPLEvaluator``)."""

    metric = "average_ppl"
    scale = None
    higher_is_better = False
    blank = None
    uses_references = False
    column: ClassVar[str] = "ppl"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the loss of one sample and its weight; a sample that was refused has neither and is in no mean."""
        loss = row.get(self.column, prediction)
        return Rating() if loss is None else Rating(data=(float(loss), self.weight(row)))

    def weight(self, row: Row) -> float:
        """Return how much a sample counts."""
        return 1.0

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return total loss over total weight."""
        measured = [pair for pair in Ratings.of(ratings).data if pair]
        return {self.metric: math.fsum(loss for loss, _ in measured) / math.fsum(weight for _, weight in measured)}


class AverageMinKEvaluator(AveragePPLEvaluator):
    """Mean of the samples' Min-K% losses, less is better (OpenCompass ``AverageMinKEvaluator``; Shi et al. 2023)."""

    metric = "average_mink"
    column = "mink"


class AverageInferencePPLEvaluator(AveragePPLEvaluator):
    """Total loss over total tokens, less is better (OpenCompass ``AverageInferencePPLEvaluator``)."""

    needs = frozenset({"token_len"})
    demands = (number("token_len"),)

    def weight(self, row: Row) -> float:
        """Return the tokens of a sample."""
        return float(row["token_len"])


class BPCEvaluator(AveragePPLEvaluator):
    """Bits per character: total loss over ln 2 and the characters of the corpus, less is better (OpenCompass ``BPCEvaluator``).

    The rows hold ``loss`` (nats) and ``total_chr_num``; characters are those of the first row, which counts the whole corpus.
    """

    metric = "bpc"
    column = "loss"
    needs = frozenset({"total_chr_num"})
    demands = (number("total_chr_num"),)

    def weight(self, row: Row) -> float:
        """Return the corpus's characters."""
        return float(row["total_chr_num"])

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the bits per character."""
        measured = [pair for pair in Ratings.of(ratings).data if pair]
        if not measured:
            raise DataError("no window was measured: bits per character do not exist")
        return {self.metric: math.fsum(loss for loss, _ in measured) / (measured[0][1] * math.log(2))}


class BitsPerCharacter(AveragePPLEvaluator):
    """Bits per character of what sliding windows measured: total loss over ln 2 and all characters, less is better.

    Takes ``{"loss": nats, "characters": n}`` of each text (SWCELossInferencer).
    """

    metric = "bits_per_character"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the loss and the characters of one text."""
        if prediction is None:
            return Rating()
        measured = json.loads(prediction)
        return Rating(data=(float(measured["loss"]), float(measured["characters"])))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the bits per character."""
        return {name: value / math.log(2) for name, value in super().combine(ratings).items()}
