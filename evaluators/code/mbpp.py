"""MBPP under its recorded names: the evaluators clean the answer themselves, and the reference holds the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from evaluators.base import Rating
from evaluators.code.base import CodeEvaluator, detail_of
from evaluators.code.several import SeveralAnswers, ks
from evaluators.demands import keys
from evaluators.postprocessors.fences import mbpp, mbpp_block
from evaluators.ratings import Ratings
from leaderflow.core.sandbox import Job, Limits, Outcome, Suite
from leaderflow.core.types import Row

_WORDS = {"passed": "pass", "wrong": "wrong_answer", "timeout": "timeout"}
_COUNTS = ("pass", "timeout", "failed", "wrong_answer")


class _Mbpp(CodeEvaluator):
    """Assertions of the reference; a wrong assertion, an error and a time-out are counted apart."""

    units: ClassVar[Mapping[str, tuple[float | None, bool]]] = {name: (None, name == "pass") for name in _COUNTS}
    limits = Limits(seconds=10.0, wall=60.0)
    uses_references = True

    def job(self, prediction: Any, reference: Any, row: Row) -> Job:
        """Return the assertions for the cleaned answer; an empty one fails them."""
        return Suite((self.clean(str(prediction)),), str(reference))

    def clean(self, text: str) -> str:
        """Return the program of an answer."""
        return mbpp(text)

    def judged(self, outcome: Outcome | None) -> Rating:
        """Return the rating, with the recorded word for the outcome."""
        passed = outcome is not None and outcome.passed
        word = _WORDS.get(outcome.status, "failed") if outcome else "failed"
        return Rating({self.metric: float(passed)}, passed, detail_of(outcome), data=word)


class MBPPEvaluator(_Mbpp):
    """MBPP (OpenCompass): the share of right answers, and how often each outcome occurred.

    Args:
        metric: ``MBPP`` or ``MBPPPlus`` (recorded; the tests of the reference decide in both).
    """

    metric = "score"

    def __init__(self, metric: str = "MBPP") -> None:
        self.kind = metric

    @property
    def averages(self) -> bool:
        """The score is a mean; the counts beside it have no error."""
        return True

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the score and the counts."""
        return super().combine(ratings) | _counted(Ratings.of(ratings).data)


class MBPPEvaluator2(MBPPEvaluator):
    """MBPP (OpenCompass), with the answer's first fenced block as the program."""

    def clean(self, text: str) -> str:
        """Return the program of an answer."""
        return mbpp_block(text)


class MBPPPassKEvaluator(SeveralAnswers, _Mbpp):
    """MBPP (OpenCompass) with pass@k; the reference holds ``test_list_2`` and ``task_id``.

    Args:
        k: the k of pass@k.
    """

    metric = "pass@1"
    demands = (keys("test_list_2", "task_id"),)

    def __init__(self, k: int | Sequence[int] = (1, 10, 100)) -> None:
        self.k = ks(k)

    def job(self, prediction: Any, reference: Any, row: Row) -> Job:
        """Return the assertions for the cleaned answer."""
        return super().job(prediction, reference["test_list_2"], row)

    def task(self, reference: Any, row: Row) -> Hashable:
        """Return the task's id in the reference."""
        return str(reference["task_id"])

    def judged(self, outcome: Outcome | None) -> Rating:
        """Return the rating, with the recorded word for the outcome."""
        return _Mbpp.judged(self, outcome)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return pass@k and the counts."""
        return super().combine(ratings) | _counted([word for _, words in Ratings.of(ratings).data for word in words])


def _counted(words: Sequence[str]) -> dict[str, float]:
    counts = Counter(words)
    return {word: float(counts[word]) for word in _COUNTS}
