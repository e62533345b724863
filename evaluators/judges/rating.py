"""A number of points, by judges that see the question and perhaps a reference."""

from __future__ import annotations

from statistics import fmean
from typing import ClassVar

from evaluators.base import Rating
from evaluators.judges.agreement import Panel, ballots, unreadable
from evaluators.judges.base import GUARD, JudgeNames, Verdicts
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Item, Json

REFERENCE = "\n\nA good answer, for comparison:\n{reference}"


class RatingJudge(Panel):
    """Mean rating of the answers; `low` to `high`, more is better (after MT-Bench; Zheng et al. 2023).

    An answer's rating is the mean of its readable verdicts; without one it is 0. The score of one sample is the rating over `high`.

    Args (beside those of `Judge`):
        guide: what the judge shall look at, in place of our own list.
        with_reference: show the reference too.
        low, high: the ends of the scale.
    """

    metric = "rating"
    interval = True
    prompt: ClassVar[str] = (
        "You rate the answer that an assistant gave to a question.\n\n"
        "Question:\n{question}{good}\n\nAnswer to be rated:\n{answer}\n\n" + GUARD + "\n\n"
        "{guide}\n\nRate on a scale from {low} (useless or wrong) to {high} (nothing to add). Length is no merit. "
        "Name the strengths and faults in a few sentences. Then finish with one line that holds nothing but\nSCORE: <number>"
    )
    guide: ClassVar[str] = "Look at whether the answer is right, complete, to the point, clear, and does what was asked."

    def __init__(
        self,
        judge: JudgeNames = None,
        question: str = "question",
        prompt: str | None = None,
        guide: str | None = None,
        with_reference: bool = False,
        low: float = 1,
        high: float = 10,
        repeats: int = 1,
        minimum: int = 1,
        max_out_len: int | None = None,
    ) -> None:
        if not 0 <= low < high:
            raise SpecError(f"a scale goes up from 0 or more, got {low:g} to {high:g}", key="low")
        self.low, self.high = low, high
        text = prompt or self.prompt
        parts = {"good": REFERENCE if with_reference else "", "guide": guide or self.guide, "low": f"{low:g}", "high": f"{high:g}"}
        for name, part in parts.items():
            text = text.replace(f"{{{name}}}", part)
        super().__init__(judge, question, text, repeats, minimum, max_out_len)

    def reader(self) -> dict[str, Json]:
        """Return the strict reader of a number."""
        return {"type": "rating", "low": self.low, "high": self.high}

    def rate_item(self, item: Item, verdicts: Verdicts) -> Rating:
        """Return the mean of the readable verdicts."""
        points = self.valid(verdicts)
        mean = fmean(points) if points else 0.0
        return Rating({self.metric: mean / self.high, **unreadable(verdicts)}, None, {"points": points}, (ballots(verdicts),))

    def unit(self, name: str) -> tuple[float | None, bool]:
        """The rating is in the judge's own points."""
        return (float(self.high), True) if name == self.metric else super().unit(name)
