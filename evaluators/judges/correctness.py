"""Right or wrong, by judges that see the question and the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evaluators.base import Rating
from evaluators.judges.agreement import Panel, ballots, unreadable
from evaluators.judges.base import GUARD, JudgeNames, Verdicts, majority
from evaluators.ratings import Ratings
from leaderflow.core.statistics import cohen_kappa
from leaderflow.core.types import Item, Json

RIGHT, WRONG, SILENT = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"


class CorrectnessJudge(Panel):
    """Share of answers that judges find to agree with the reference; 0–100, more is better.

    Several verdicts (judges × repeats) decide by majority; **a tie is not right**. With `not_attempted` there is a third verdict,
    and the metrics of SimpleQA (Wei et al. 2024) beside the accuracy: ``attempted``, ``accuracy_given_attempted`` and ``f1``, their
    harmonic mean with the accuracy. With `human_column`, a column of true or false, ``human_agreement`` is the share of
    answers of which judges and people think the same, and ``human_kappa`` Cohen's kappa of both.
    """

    metric = "accuracy"
    prompt: ClassVar[str] = (
        "You compare an answer with the reference answer of a question.\n\n"
        "Question:\n{question}\n\nReference answer:\n{reference}\n\nAnswer to be judged:\n{answer}\n\n" + GUARD + "\n\n"
        "The reference is right; do not solve the question yourself. The answer is correct if its final result says the same as "
        "the reference. Wording, notation, units and order do not matter; a contradiction, a hedge between several results or a "
        "missing part does. Where the reference lists several accepted answers, one of them is enough.{third}\n\n"
        "Give your reasons in a few sentences. Then finish with one line that holds nothing but\n{choices}"
    )

    def __init__(
        self,
        judge: JudgeNames = None,
        question: str = "question",
        prompt: str | None = None,
        not_attempted: bool = False,
        human_column: str | None = None,
        repeats: int = 1,
        minimum: int = 1,
        max_out_len: int | None = None,
    ) -> None:
        self.labels = [RIGHT, WRONG, *([SILENT] if not_attempted else [])]
        self.human_column = human_column
        third = f" If it gives no result at all, the verdict is {SILENT}." if not_attempted else ""
        text = (prompt or self.prompt).replace("{third}", third)
        choices = " or\n".join(f"VERDICT: {label}" for label in self.labels)
        super().__init__(judge, question, text.replace("{choices}", choices), repeats, minimum, max_out_len)
        self.needs |= {human_column} if human_column else set()

    def reader(self) -> dict[str, Json]:
        """Return the strict reader of the labels."""
        return {"type": "verdict", "labels": self.labels}

    def rate_item(self, item: Item, verdicts: Verdicts) -> Rating:
        """Return right where most verdicts say so."""
        found = majority(self.valid(verdicts))
        right = found == RIGHT
        values = {self.metric: float(right), **unreadable(verdicts)}
        if SILENT in self.labels:
            values["attempted"] = float(found in (RIGHT, WRONG))
        detail: dict[str, Json] = {"verdict": found}
        if self.human_column is not None:
            detail["human"] = truth(item.row[self.human_column])
            values |= {} if detail["human"] is None else {"human_agreement": float(detail["human"] == right)}
        return Rating(values, right, detail, (ballots(verdicts), detail.get("human")))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the shares, the agreement, and SimpleQA's numbers where there is a third verdict."""
        columns = Ratings.of(ratings)
        found = super().combine(columns)
        if SILENT in self.labels:
            attempted = columns.take(columns.places("attempted")[np.array(columns.numbers("attempted")) > 0])
            given = 100 * sum(attempted.right) / len(attempted) if len(attempted) else 0.0
            both = found[self.metric] + given
            found |= {"accuracy_given_attempted": given, "f1": 2 * found[self.metric] * given / both if both else 0.0}
        people = [(row[1], right) for row, right in zip(columns.data, columns.right, strict=True) if row[1] is not None]
        kappa = cohen_kappa([a for a, _ in people], [b for _, b in people]) if people else None
        return found | ({} if kappa is None else {"human_kappa": kappa})

    def unit(self, name: str) -> tuple[float | None, bool]:
        """Kappa lies below 1."""
        return (1.0, True) if name == "human_kappa" else super().unit(name)


def truth(value: Json) -> bool | None:
    """Return a person's label as true or false, None where there is none."""
    if isinstance(value, bool) or value is None:
        return value
    text = str(value).strip().casefold()
    return {"1": True, "true": True, "correct": True, "yes": True, "0": False, "false": False, "incorrect": False, "no": False}.get(
        text
    )
