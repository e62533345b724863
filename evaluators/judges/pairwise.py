"""Which of two answers is better, asked in both orders so that a liking for one place shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import ClassVar

from evaluators.base import Rating
from evaluators.judges.agreement import Panel, ballots, unreadable
from evaluators.judges.base import GUARD, JudgeNames, Verdicts, fenced
from evaluators.judges.shown import shown_text
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Item, Json, Question

FIRST, SECOND = "answer first", "answer second"
ORDERS = {FIRST: ("A", "B"), SECOND: ("B", "A")}
"""Order → the label that is a win, the label that is a loss."""
TIE = "TIE"
BASELINE = ""
"""Stands for the baseline column where others are the names of models."""


class PairwiseJudge(Panel):
    """Share of won comparisons with another answer, a tie counting half; 0–100 (after AlpacaEval and Arena-Hard).

    The other answer stands in a column, or is what other models of the run said to the same sample. Each pair is asked in both
    orders and a sample's score is the mean over orders and models, so a judge that always takes the first gives 50. Beside it:
    ``consistent`` (share of pairs judged the same in both orders), ``first_place`` (share of a row's decided verdicts that went to
    the answer shown first, the mean over rows: 50 is no bias), and with several models ``win_rate_vs_MODEL``. An order without a
    readable verdict counts as lost. An answer that was refused or is empty loses without being asked about, and wins so
    against one. A model is not compared with itself; where it is the only one to compare with, it has no win rate.

    Args (beside those of `Judge`):
        baseline: the column with the answer to compare with, unless `against` names models.
        against: a model of the run, or several, or ``*`` for every other one.
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
        against: str | Sequence[str] | None = None,
        swap: bool = True,
        prompt: str | None = None,
        repeats: int = 1,
        minimum: int = 1,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(judge, question, prompt, repeats, minimum, max_out_len)
        self.baseline, self.swap = baseline, swap
        if against is None:
            self.needs |= {baseline}
        elif self.judging is not None:
            self.judging = replace(self.judging, rivals=(against,) if isinstance(against, str) else tuple(against))

    def reader(self) -> dict[str, Json]:
        """Return the strict reader of the labels."""
        return {"type": "verdict", "labels": ["A", "B", TIE]}

    def orders(self, item: Item, rival: str) -> list[str]:
        """Return the orders in which a pair is shown."""
        return list(ORDERS) if self.swap else [FIRST]

    def asked(self, item: Item, text: str) -> list[Question]:
        """Return one question an order for each answer to compare with."""
        found = []
        for rival, other in self._others(item).items():
            if not other:
                continue
            for order in self.orders(item, rival):
                first, second = (text, other) if order == FIRST else (other, text)
                row = self.row(item, text, **self.shown_pair(first, second, order))
                found.append(Question(item.sample_id, item.repeat, _name(rival, order), row))
        return found

    def shown_pair(self, first: str, second: str, order: str) -> dict[str, Json]:
        """Return the columns that show the two answers."""
        return {"first": fenced(first), "second": fenced(second)}

    def rate_item(self, item: Item, verdicts: Verdicts) -> Rating:
        """Return the mean over orders and answers to compare with."""
        others = self._others(item)
        if not others:
            return Rating({}, None, {"compared": 0}, (None,))
        points = {rival: self._points(item, rival, other, verdicts) for rival, other in others.items()}
        means = {rival: fmean(own.values()) for rival, own in points.items()}
        values = {self.metric: fmean(means.values()), **unreadable(verdicts)}
        values |= {f"{self.metric}_vs_{rival}": mean for rival, mean in means.items()} if len(means) > 1 else {}
        asked = {rival: [self.valid(verdicts, _name(rival, order)) for order in self.orders(item, rival)] for rival in others}
        if both := [own for rival, own in points.items() if len(own) == 2 and all(asked[rival])]:
            values["consistent"] = fmean(len({_side(p) for p in own.values()}) == 1 for own in both)
        decided = [label == "A" for own in asked.values() for labels in own for label in labels if label != TIE]
        values |= {"first_place": fmean(decided)} if decided else {}
        detail = {_name(rival, order): worth for rival, own in points.items() for order, worth in own.items()}
        return Rating(values, None, detail, (ballots(verdicts),))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the means over all rows.

        Raises:
            DataError: there is nothing to compare with.
        """
        if not Ratings.of(ratings).names:
            raise DataError("a model is not compared with itself")
        return super().combine(ratings)

    def _points(self, item: Item, rival: str, other: str | None, verdicts: Verdicts) -> dict[str, float]:
        orders = self.orders(item, rival)
        if not other:
            return dict.fromkeys(orders, float(bool(self.answer_of(item, ""))))
        found = {order: [_worth(label, order) for label in self.valid(verdicts, _name(rival, order))] for order in orders}
        return {order: fmean(points) if points else 0.0 for order, points in found.items()}

    def _others(self, item: Item) -> Mapping[str, str | None]:
        """Return what the answer is compared with: model → its answer, or the baseline column's."""
        if self.judging is not None and self.judging.rivals:
            return {model: answer.text for model, answer in item.rivals.items()}
        value = item.row[self.baseline]
        return {BASELINE: None if value is None else shown_text(value)}


def _name(rival: str, order: str) -> str:
    return f"{rival}, {order}" if rival else order


def _worth(label: str, order: str) -> float:
    win, loss = ORDERS[order]
    return {win: 1.0, loss: 0.0}.get(label, 0.5)


def _side(points: float) -> int:
    return (points > 0.5) - (points < 0.5)
