"""Chinese examinations: GAOKAO-Bench (Zhang et al. 2023) and the Kaoshi sets. 0–100, more is better.

References are lists with one entry a question part. A sample's score is the share of its points; the metric divides all points
won by all points there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from evaluators.ratings import Ratings
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.types import Row

_KINDS = ("single_choice", "multi_choice", "multi_question_choice", "five_out_of_seven")


class GaokaoBenchEvaluator(Evaluator):
    """Points for the letters read off the answer; half a point for a part of the right letters in ``multi_choice`` (OpenCompass).

    Args:
        question_type: ``single_choice``, ``multi_choice``, ``multi_question_choice`` or ``five_out_of_seven``; ``cloze``,
            ``subjective`` and ``correction`` always give 0 (recorded: they are left to people).
    """

    unscored: ClassVar[tuple[str, ...]] = ("cloze", "subjective", "correction")
    scored: ClassVar[tuple[str, ...]] = _KINDS

    def __init__(self, question_type: str) -> None:
        known = (*self.scored, *self.unscored)
        if question_type not in known:
            raise SpecError(
                f"unknown question_type {question_type!r}{did_you_mean(question_type, known)}; one of {', '.join(known)}"
            )
        self.kind = question_type

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the points won and the points there are."""
        if self.kind in self.unscored:
            return Rating({self.metric: 0.0}, data=(0.0, len(reference)))
        found = self.read(str(prediction), len(reference))
        parts = found if len(found) == len(reference) else ["Z"] * len(reference)
        points = sum(self.points(part, gold) for part, gold in zip(parts, reference, strict=True))
        share = points / len(reference) if reference else 0.0
        return Rating({self.metric: share}, share == 1, {"pred": parts}, (points, len(reference)))

    def points(self, answer: str, gold: str) -> float:
        """Return what one part is worth."""
        if answer == gold:
            return 1.0
        return 0.5 if self.kind == "multi_choice" and all(letter in gold for letter in answer) else 0.0

    def read(self, text: str, parts: int) -> list[str]:
        """Return the letters an answer names, one entry a part."""
        if self.kind == "single_choice":
            return re.findall("[A-D]", text)[-1:]
        if self.kind == "five_out_of_seven":
            return re.findall("[A-G]", text)[:5]
        if self.kind == "multi_question_choice":
            marked = re.findall(r"【答案】\s*[:：]*\s*([A-Z])", text)
            return marked if len(marked) == parts else re.findall("[A-Z]", text)[:parts]
        bare = re.sub(r"\s+", "", text)
        marker = bare.find("【答案】")
        letters = "".join(re.findall("[A-D]", bare[marker:] if marker > 0 else bare[-10:]))
        return [letters] if letters else []

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return points won over points there are."""
        points, reachable = Ratings.of(ratings).totals()
        return {self.metric: 100 * points / max(1, reachable)}


class KaoshiEvaluator(GaokaoBenchEvaluator):
    """As ``GaokaoBenchEvaluator``; ``cloze`` and ``judgment`` always give 0 (recorded; OpenCompass ``KaoshiEvaluator``)."""

    unscored = ("cloze", "judgment")


def __getattr__(name: str) -> Callable[[], GaokaoBenchEvaluator]:
    """Return the evaluator of one question type, which configurations call ``GaokaoBenchEvaluator_single_choice`` and so on."""
    kind = name.removeprefix("GaokaoBenchEvaluator_")
    if kind not in (*GaokaoBenchEvaluator.scored, *GaokaoBenchEvaluator.unscored):
        raise AttributeError(name)
    return lambda: GaokaoBenchEvaluator(kind)
