"""Rules first; judges only for what the rules could not confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.base import Evaluator, Rating
from evaluators.cell import Item, items_of, metrics_of, scores_of
from evaluators.judges.base import JudgeNames, verdicts_of
from evaluators.judges.correctness import CorrectnessJudge
from leaderflow.core.registry import build
from leaderflow.core.types import Json, Metric, Question, Row, Score

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = ("n_confirmed_by_rules", "n_confirmed_by_judge", "n_judged")


class RulesThenJudge(CorrectnessJudge):
    """Share of answers that a rule or else a judge finds right; 0–100, more is better.

    The judge sees the whole answer, not the extraction, and is asked about every answered row that the rule did not find right,
    also where nothing was extracted. Beside the accuracy: ``rules_accuracy``, what the rule alone gives, and the counts
    ``n_confirmed_by_rules``, ``n_confirmed_by_judge`` and ``n_judged``.

    Args (beside those of `CorrectnessJudge`):
        rules: the evaluator that is asked first; one that says right or wrong.
    """

    def __init__(
        self,
        rules: dict[str, Json],
        judge: JudgeNames = None,
        question: str = "question",
        prompt: str | None = None,
        human_column: str | None = None,
        repeats: int = 1,
        minimum: int = 1,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(judge, question, prompt, False, human_column, repeats, minimum, max_out_len)
        self.rules: Evaluator = build("evaluator", rules, key="rules")
        self.needs |= self.rules.needs
        self.needs_sandbox = self.rules.needs_sandbox
        self.uses_references = self.uses_references or self.rules.uses_references

    def check(self, references: Sequence[Json], rows: Sequence[Row]) -> None:
        """See that the rules can score all rows."""
        self.rules.check(references, rows)

    def questions(self, extracted: pa.Table, samples: pa.Table, outputs: pa.Table) -> list[Question]:
        """Return the questions about the answers that the rules do not find right."""
        confirmed = self._confirmed(items_of(extracted, samples, outputs, self))
        asked = super().questions(extracted, samples, outputs)
        return [question for question in asked if not confirmed[question.sample_id, question.repeat]]

    def answer_of(self, item: Item, output: str) -> str | None:
        """Return the whole answer."""
        return output or super().answer_of(item, output)

    def score(
        self, extracted: pa.Table, samples: pa.Table, outputs: pa.Table, answers: pa.Table | None = None
    ) -> tuple[list[Score], list[Metric]]:
        """Score every row by the rules, else by the verdicts."""
        items = items_of(extracted, samples, outputs, self)
        confirmed, verdicts = self._confirmed(items), verdicts_of(answers)
        ratings = []
        for item in items:
            key = (item.sample_id, item.repeat)
            ratings.append(self._rated(item, confirmed[key], verdicts.get(key, {})))
        return scores_of(items, ratings), metrics_of(self, items, ratings)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the shares, and the counts of who confirmed."""
        sources = [rating.detail["by"] for rating in ratings]
        judged = sum(bool(rating.detail["judged"]) for rating in ratings)
        counts = (float(sources.count("rules")), float(sources.count("judge")), float(judged))
        return super().combine(ratings) | dict(zip(COUNTS, counts, strict=True))

    def unit(self, name: str) -> tuple[float | None, bool]:
        """Counts have no upper end."""
        return (None, True) if name in COUNTS else super().unit(name)

    def _rated(self, item: Item, confirmed: bool, verdicts: Any) -> Rating:
        found = self.rate_item(item, verdicts)
        found = found.wrong() if item.refused else found
        right = not item.refused and (confirmed or bool(found.correct))
        by = "rules" if confirmed and right else "judge" if right else None
        values = {**found.values, self.metric: float(right), "rules_accuracy": float(confirmed and not item.refused)}
        detail = {**found.detail, "by": by, "judged": bool(verdicts)}
        if self.human_column is not None and detail["human"] is not None:
            values["human_agreement"] = float(detail["human"] == right)
        return replace(found, values=values, correct=right, detail=detail)

    def _confirmed(self, items: Sequence[Item]) -> dict[tuple[str, int], bool]:
        """Return what the rules find right; an answer that they cannot read is not confirmed."""
        predictions = [self.rules.blank if item.prediction is None else item.prediction for item in items]
        ratings = self.rules._rate_all(predictions, [item.reference for item in items], [item.row for item in items])
        return {
            (i.sample_id, i.repeat): r.correct is True and i.prediction is not None for i, r in zip(items, ratings, strict=True)
        }
