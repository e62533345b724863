"""Lists of criteria with points: each criterion is a question of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import ClassVar

from evaluators.base import Rating
from evaluators.judges.agreement import Panel, ballots, unreadable
from evaluators.judges.base import GUARD, JudgeNames, Verdicts, majority
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Item, Json, Question

MET, UNMET = "MET", "NOT MET"


class RubricJudge(Panel):
    """Points of the criteria that an answer meets, over the points that it can get; 0–100 (HealthBench; Arora et al. 2025).

    Criteria may carry negative points. A sample's share may be negative; the cell's mean is cut to 0–100, as the official
    scorer does. A criterion without a readable verdict, or with a tie, is not met.

    Args (beside those of `Judge`):
        rubric: the column with the list of ``{criterion, points}``.
    """

    metric = "rubric"
    prompt: ClassVar[str] = (
        "You check whether an answer meets one criterion.\n\n"
        "Question:\n{question}\n\nAnswer to be checked:\n{answer}\n\nCriterion:\n{criterion}\n\n" + GUARD + "\n\n"
        "Judge this criterion alone. It is met only if the answer does all that it says. A criterion may describe a fault: it is "
        "met if the answer has the fault.\n\nGive your reason briefly. Then finish with one line that holds nothing but"
        "\nVERDICT: MET or\nVERDICT: NOT MET"
    )

    def __init__(
        self,
        judge: JudgeNames = None,
        question: str = "question",
        rubric: str = "rubrics",
        prompt: str | None = None,
        repeats: int = 1,
        minimum: int = 1,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(judge, question, prompt, repeats, minimum, max_out_len)
        self.rubric = rubric
        self.needs |= {rubric}

    def reader(self) -> dict[str, Json]:
        """Return the strict reader of the labels."""
        return {"type": "verdict", "labels": [MET, UNMET]}

    def asked(self, item: Item, text: str) -> list[Question]:
        """Return one question a criterion."""
        criteria = enumerate(self._criteria(item), 1)
        return [
            Question(item.sample_id, item.repeat, str(number), self.row(item, text, criterion=criterion))
            for number, (criterion, _) in criteria
        ]

    def rate_item(self, item: Item, verdicts: Verdicts) -> Rating:
        """Return the share of points; its score is cut to 0–1, its detail keeps the whole."""
        criteria = self._criteria(item)
        met = [majority(self.valid(verdicts, str(number))) == MET for number in range(1, len(criteria) + 1)]
        reachable = math.fsum(points for _, points in criteria if points > 0)
        share = math.fsum(points for (_, points), yes in zip(criteria, met, strict=True) if yes) / reachable
        values = {self.metric: min(1.0, max(0.0, share)), **unreadable(verdicts)}
        return Rating(values, None, {"met": met, "share": share}, (ballots(verdicts), share))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the mean share, cut to 0–100."""
        columns = Ratings.of(ratings)
        mean = fmean([share for _, share in columns.data])
        return super().combine(columns) | {self.metric: 100 * min(1.0, max(0.0, mean))}

    def _criteria(self, item: Item) -> list[tuple[str, float]]:
        """Return criterion and points of a sample.

        Raises:
            DataError: the column holds something else, or nothing that gives points.
        """
        try:
            found = [(str(entry["criterion"]), float(entry["points"])) for entry in item.row[self.rubric]]
        except (KeyError, TypeError, ValueError) as exc:
            raise DataError(
                f"column {self.rubric!r} of sample {item.sample_id!r} must list {{criterion, points}}: {exc!r}"
            ) from exc
        if not any(points > 0 for _, points in found):
            raise DataError(f"column {self.rubric!r} of sample {item.sample_id!r} has no criterion with points to get")
        return found
