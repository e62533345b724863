"""pass@k as recorded: over the answers to one task, which come as a list or as rows of one task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import Any, ClassVar

from evaluators.base import Rating
from evaluators.code.base import CodeEvaluator
from evaluators.ratings import Ratings
from leaderflow.core.sandbox import Outcome
from leaderflow.core.statistics import pass_at_k
from leaderflow.core.types import Row


class SeveralAnswers(CodeEvaluator):
    """Base of evaluators whose predictions may be lists of answers to one task.

    `k` names the k; one above the answers of some task is left out. `prefix` stands before the names ``pass@k``.
    """

    prefix: ClassVar[str] = ""
    k: Sequence[int] = (1,)

    @property
    def averages(self) -> bool:
        """pass@1 is a mean over answers; what stands beside it has no error of its own."""
        return True

    def task(self, reference: Any, row: Row) -> Hashable:
        """Return what tells tasks apart; None: every answer is a task of its own."""
        return row.get("task_id", reference if isinstance(reference, str) else None)

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return the share of right answers of each prediction."""
        listed = [prediction if isinstance(prediction, list) else [prediction] for prediction in predictions]
        given = list(zip(listed, references, rows, strict=True))
        jobs = [[self.job(answer, reference, row) for answer in answers] for answers, reference, row in given]
        found = self.outcomes([job for group in jobs for job in group if job is not None])
        tasks = [self.task(reference, row) for _, reference, row in given]
        return [
            self._joined([self.judged(None if job is None else found[job]) for job in group], task)
            for group, task in zip(jobs, tasks, strict=True)
        ]

    def _joined(self, ratings: list[Rating], task: Hashable) -> Rating:
        share = fmean(float(bool(rating.correct)) for rating in ratings)
        only, details = ratings[0].correct if len(ratings) == 1 else None, [rating.detail for rating in ratings]
        words = tuple(rating.data for rating in ratings)
        return Rating({self.metric: share}, only, details if len(details) > 1 else details[0], data=(task, words))

    def judged(self, outcome: Outcome | None) -> Rating:
        """Return the rating of one answer; its data is the outcome's word, ``pass`` for a right one."""
        rating = super().judged(outcome)
        return Rating(rating.values, rating.correct, rating.detail, data="pass" if rating.correct else "failed")

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return pass@k over tasks."""
        tasks: dict[Hashable, list[str]] = defaultdict(list)
        for place, (task, words) in enumerate(Ratings.of(ratings).data):
            tasks[("", place) if task is None else task] += words
        least = min(len(words) for words in tasks.values())
        return {
            f"{self.prefix}pass@{k}": 100 * fmean(pass_at_k(len(words), words.count("pass"), k) for words in tasks.values())
            for k in self.k
            if k <= least
        }


def ks(k: int | Sequence[int]) -> list[int]:
    """Return the k of a recorded configuration, a number or a list."""
    return [k] if isinstance(k, int) else list(k)
