"""Which of two answers is better, asked in both orders so that a liking for one place shows."""

from __future__ import annotations

from statistics import fmean
from typing import ClassVar

from evaluators.base import Rating
from evaluators.cell import Item
from evaluators.judges.agreement import Panel, ballots, unreadable
from evaluators.judges.base import GUARD, JudgeNames, Verdicts, fenced, shown_text
from leaderflow.core.types import Json, Question

ORDERS = {"answer first": ("A", "B"), "answer second": ("B", "A")}
"""Order → the label that is a win, the label that is a loss."""
TIE = "TIE"


class PairwiseJudge(Panel):
    """Share of won comparisons with a baseline answer, a tie counting half; 0–100 (after AlpacaEval and Arena-Hard).

    Each pair is asked in both orders and a sample's score is the mean of both, so a judge that always takes the first gives 50.
    Beside it: ``consistent`` (share of pairs judged the same in both orders) and ``first_place`` (share of a pair's decided
    verdicts that went to the answer shown first, the mean over pairs: 50 is no bias). An order without a readable verdict counts
    as lost. An answer that was refused or is empty loses without being asked about.

    Args (beside those of `Judge`):
        baseline: the column with the answer to compare with.
        swap: ask in both orders.
    """

    metric = "win_rate"
    placeholder = "first"
    prompt: ClassVar[str] = (
        "You compare two answers to the same question.\n\nQuestion:\n{question}\n\nAnswer A:\n{first}\n\nAnswer B:\n{second}\n\n"
        + GUARD
        + "\n\nDecide which answer helps more: right, complete, to the point, clear. Place, length and tone are no merit.\n\n"
        "Give your reasons in a few sentences. Then finish with one line that holds nothing but\n"
        "VERDICT: A or\nVERDICT: B or\nVERDICT: TIE"
    )

    def __init__(
        self,
        judge: JudgeNames = None,
        question: str = "question",
        baseline: str = "baseline",
        swap: bool = True,
        prompt: str | None = None,
        repeats: int = 1,
        minimum: int = 1,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(judge, question, prompt, repeats, minimum, max_out_len)
        self.baseline, self.orders = baseline, list(ORDERS) if swap else list(ORDERS)[:1]
        self.needs |= {baseline}

    def reader(self) -> dict[str, Json]:
        """Return the strict reader of the labels."""
        return {"type": "verdict", "labels": ["A", "B", TIE]}

    def asked(self, item: Item, text: str) -> list[Question]:
        """Return one question an order."""
        sides = [fenced(text), fenced(shown_text(item.row[self.baseline]))]
        rows = [self.row(item, text, first=a, second=b) for a, b in (sides, sides[::-1])]
        return [Question(item.sample_id, item.repeat, order, row) for order, row in zip(self.orders, rows, strict=False)]

    def rate_item(self, item: Item, verdicts: Verdicts) -> Rating:
        """Return the mean of both orders."""
        found = {order: [_worth(label, order) for label in self.valid(verdicts, order)] for order in self.orders}
        scores = {order: fmean(points) if points else 0.0 for order, points in found.items()}
        values = {self.metric: fmean(scores.values()), **unreadable(verdicts)}
        if len(self.orders) == 2 and all(found.values()):
            values["consistent"] = float(len({_side(points) for points in scores.values()}) == 1)
        decided = [label == "A" for order in self.orders for label in self.valid(verdicts, order) if label != TIE]
        values |= {"first_place": fmean(decided)} if decided else {}
        return Rating(values, None, scores, ballots(verdicts))


def _worth(label: str, order: str) -> float:
    win, loss = ORDERS[order]
    return {win: 1.0, loss: 0.0}.get(label, 0.5)


def _side(points: float) -> int:
    return (points > 0.5) - (points < 0.5)
