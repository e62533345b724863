"""MBPP under its recorded names: the evaluators clean the answer themselves, and the reference holds the tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from evaluators.base import Rating
from evaluators.code.base import CodeEvaluator, detail_of
from evaluators.postprocessors.fences import mbpp
from leaderflow.core.sandbox import Job, Limits, Outcome, Suite
from leaderflow.core.statistics import pass_at_k
from leaderflow.core.types import Json, Row

_WORDS = {"passed": "pass", "wrong": "wrong_answer", "timeout": "timeout"}
_COUNTS = ("pass", "timeout", "failed", "wrong_answer")


class MBPPEvaluator(CodeEvaluator):
    """MBPP (OpenCompass): program and assertions of the reference; a wrong assertion, an error and a time-out are counted apart.

    Args:
        metric: ``MBPP`` or ``MBPPPlus`` (recorded; the tests of the reference decide in both).
    """

    metric = "score"
    units = {name: (None, name == "pass") for name in _COUNTS}
    limits = Limits(seconds=10.0, wall=60.0)

    def __init__(self, metric: str = "MBPP") -> None:
        self.kind = metric

    @property
    def averages(self) -> bool:
        """The score is a mean; the counts beside it have no error."""
        return True

    def job(self, prediction: Any, reference: Any, row: Row) -> Job:
        """Return the assertions for the cleaned answer; an empty one fails them."""
        return Suite((mbpp(str(prediction)),), str(reference))

    def judged(self, outcome: Outcome | None) -> Rating:
        """Return the rating, with the recorded word for the outcome."""
        passed = outcome is not None and outcome.passed
        word = _WORDS.get(outcome.status, "failed") if outcome else "failed"
        return Rating({"score": float(passed)}, passed, detail_of(outcome), data=word)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the score and how often each outcome occurred."""
        words = Counter(rating.data for rating in ratings)
        return super().combine(ratings) | {word: float(words[word]) for word in _COUNTS}


class MBPPPassKEvaluator(MBPPEvaluator):
    """MBPP with pass@k over the answers to one task: a list of answers, or one answer a row and the task's id in the reference.

    Args:
        k: the k of pass@k; one above the answers of some task is left out.
    """

    metric = "pass@1"

    def __init__(self, k: Json = (1, 10, 100)) -> None:
        super().__init__()
        self.k = [k] if isinstance(k, int) else list(k)

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return the share of right answers of each prediction."""
        listed = [p if isinstance(p, list) else [p] for p in predictions]
        jobs = [[self.job(p, r["test_list_2"], {}) for p in answers] for answers, r in zip(listed, references, strict=True)]
        outcomes = self.outcomes([job for group in jobs for job in group])
        return [
            self._of_task([super(MBPPPassKEvaluator, self).judged(outcomes[job]) for job in group], reference["task_id"])
            for group, reference in zip(jobs, references, strict=True)
        ]

    def _of_task(self, ratings: list[Rating], task: Json) -> Rating:
        share = fmean(float(bool(rating.correct)) for rating in ratings)
        details = [rating.detail for rating in ratings]
        only = ratings[0].correct if len(ratings) == 1 else None
        return Rating({self.metric: share}, only, details, data=(task, [rating.data for rating in ratings]))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return pass@k over tasks, and how often each outcome occurred."""
        tasks: dict[Json, list[str]] = defaultdict(list)
        for rating in ratings:
            tasks[rating.data[0]] += rating.data[1]
        words = Counter(word for found in tasks.values() for word in found)
        least = min(len(found) for found in tasks.values())
        rates = {
            f"pass@{k}": 100 * fmean(pass_at_k(len(found), found.count("pass"), k) for found in tasks.values())
            for k in self.k
            if k <= least
        }
        return rates | {word: float(words[word]) for word in _COUNTS}
