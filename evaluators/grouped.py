"""Accuracies that belong to groups of samples, and what is derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from evaluators.demands import WHOLE_NUMBER
from evaluators.postprocessors.latex import last_boxed
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Json, Row


def percent(verdicts: Sequence[bool]) -> float:
    """Return the percentage of true verdicts, 0 without any."""
    return 100 * fmean(verdicts) if verdicts else 0.0


class AccContaminationEvaluator(Evaluator):
    """Accuracy by the rows' ``is_clean`` label, 0–100, more is better (OpenCompass ``AccContaminationEvaluator``).

    Rows without one of the three labels are in no metric.
    """

    metric = "accuracy - clean"
    needs = frozenset({"is_clean"})
    groups: ClassVar[Mapping[str, str]] = {
        "clean": "accuracy - clean",
        "input contamination": "accuracy - input contaminated",
        "input-and-label contamination": "accuracy - input-and-label contaminated",
    }

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong in the row's group."""
        right, group = str(prediction) == str(reference), self.groups.get(row["is_clean"])
        return Rating({group: float(right)} if group else {}, right if group else None)


class CrowspairsEvaluator(Evaluator):
    """Accuracy over all and over the valid answers, and the share of these; 0–100, two decimals (OpenCompass; Nangia et al. 2020).

    An answer is invalid if it is the word ``invalid``.
    """

    metric = "accuracy"

    @property
    def averages(self) -> bool:
        """Errors are those of the means before rounding."""
        return True

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong and valid or not."""
        right, valid = prediction == reference, prediction != "invalid"
        values = {"accuracy": float(right), "valid_frac": float(valid)} | ({"valid_accuracy": float(right)} if valid else {})
        return Rating(values, right)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the three percentages, rounded."""
        return {"valid_accuracy": 0.0} | {name: round(value, 2) for name, value in super().combine(ratings).items()}


class QuALITYEvaluator(Evaluator):
    """Accuracy over easy, hard and all questions, 0–100, more is better (OpenCompass ``QuALITYEvaluator``; Pang et al. 2022).

    Recorded: ``hard_acc`` is the number of hard questions right divided by the number of *easy* ones.
    """

    metric = "all_acc"
    needs = frozenset({"difficult"})

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, and whether the question is hard."""
        right = prediction == reference
        return Rating({self.metric: float(right)}, right, data=(bool(row["difficult"]), right))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the three numbers.

        Raises:
            DataError: no easy question.
        """
        data = Ratings.of(ratings).data
        easy = [right for hard, right in data if not hard]
        hard = [right for hard, right in data if hard]
        if not easy:
            raise DataError("QuALITYEvaluator divides by the number of easy questions, and there is none")
        found = {
            "easy_acc": sum(easy) / len(easy),
            "hard_acc": sum(hard) / len(easy),
            "all_acc": (sum(easy) + sum(hard)) / len(ratings),
        }
        return {"all_acc": 100 * found.pop("all_acc")} | {name: 100 * value for name, value in found.items()}


class AccDropEvaluator(Evaluator):
    """Loss of accuracy under attack, 1 − after/before, 0–1, less is better (OpenCompass ``AccDropEvaluator``; Wang et al. 2021).

    The first half of the rows are attacked, the second half are their originals, as the dataset lays them out.
    """

    metric = "acc_drop"
    scale = 1.0
    higher_is_better = False
    units: ClassVar[Mapping[str, tuple[float | None, bool]]] = {"acc_before": (100.0, True), "acc_after": (100.0, True)}

    def __init__(self) -> None:
        self._attacked = 0
        """Rows of the first half that are still to come."""

    def check(self, rows: Iterable[tuple[Json, Row]]) -> None:
        """See that there are pairs."""
        self.survey(rows)

    def survey(self, references: Iterable[Any]) -> None:
        """Count the rows.

        Raises:
            DataError: they are odd.
        """
        rows = sum(1 for _ in references)
        if rows % 2:
            raise DataError(f"AccDropEvaluator needs pairs of attacked and original rows, got {rows} rows")
        self._attacked = rows // 2

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong with the half a row belongs to: rows come in their order."""
        self._attacked -= 1
        right = str(prediction) == str(reference)
        return Rating({"accuracy": float(right)}, right, data="after" if self._attacked >= 0 else "before")

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the drop and both accuracies.

        Raises:
            DataError: no original was right, so there is nothing to lose.
        """
        columns = Ratings.of(ratings)
        halves = list(zip(columns.data, columns.right, strict=True))
        after = percent([right for half, right in halves if half == "after"])
        before = percent([right for half, right in halves if half == "before"])
        if not before:
            raise DataError("no original answer is right: a loss of accuracy does not exist")
        return {"acc_drop": 1 - after / before, "acc_before": before, "acc_after": after}


class ProcessBenchEvaluator(Evaluator):
    r"""Harmonic mean of the accuracies over wrong and right solutions, 0–100, more is better (Zheng et al. 2024).

    The answer is the whole number in the last ``\boxed{}``: the first wrong step, or −1 for a right solution.
    """

    metric = "f1"
    demands = (WHOLE_NUMBER,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, and whether the solution has an error."""
        try:
            right = int(last_boxed(str(prediction)) or "") == int(reference)
        except ValueError:
            right = False
        return Rating({"accuracy": float(right)}, right, data=int(reference) != -1)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return both accuracies and their harmonic mean; 0 for a kind that is absent."""
        columns = Ratings.of(ratings)
        kinds = list(zip(columns.data, columns.right, strict=True))
        wrong = percent([right for has_error, right in kinds if has_error])
        right = percent([right for has_error, right in kinds if not has_error])
        f1 = 2 * wrong * right / (wrong + right) if wrong + right else 0.0
        return {"f1": f1, "error_acc": wrong, "correct_acc": right}
