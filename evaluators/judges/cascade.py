"""Rules first; judges only for what the rules could not confirm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.base import Evaluator, Rating
from evaluators.judges.base import JudgeNames, verdicts_of
from evaluators.judges.correctness import CorrectnessJudge
from evaluators.metrics import metrics_of
from evaluators.rated import Rated
from evaluators.ratings import Ratings
from evaluators.reading import Reading
from leaderflow.core.registry import build
from leaderflow.core.types import Cell, Item, Json, Metric, Question, Row

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
        self.block = self.rules.block
        self.needs_sandbox = self.rules.needs_sandbox
        self.uses_references = self.uses_references or self.rules.uses_references

    def check(self, rows: Iterable[tuple[Json, Row]]) -> None:
        """See that the rules can score all rows."""
        self.rules.check(rows)

    def questions(self, cell: Cell) -> Iterator[Question]:
        """Yield the questions about the answers that the rules do not find right."""
        reading = Reading(self.rules)
        reading.survey(cell)
        for items in cell.blocks(self.block):
            for item, confirmed in zip(items, _confirmed(reading, items), strict=True):
                yield from [] if confirmed else self.about(item)
        reading.finish()

    def answer_of(self, item: Item, output: str) -> str | None:
        """Return the whole answer."""
        return output or super().answer_of(item, output)

    def score(self, cell: Cell, answers: pa.Table | None = None) -> tuple[Iterator[pa.RecordBatch], list[Metric]]:
        """Score every row by the rules, else by the verdicts."""
        reading, rated = Reading(self.rules), Rated(self)
        reading.survey(cell)
        for items in cell.blocks(self.block):
            verdicts = verdicts_of(answers, items)
            pairs = zip(items, _confirmed(reading, items), strict=True)
            rated.add(items, [self._rated(i, right, verdicts.get((i.sample_id, i.repeat), {})) for i, right in pairs])
        reading.finish()
        return rated.batches(), metrics_of(self, rated, cell.predictions)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the shares, and the counts of who confirmed."""
        columns = Ratings.of(ratings)
        *_, sources, asked = zip(*columns.data, strict=True)
        counts = (float(sources.count("rules")), float(sources.count("judge")), float(sum(asked)))
        return super().combine(columns) | dict(zip(COUNTS, counts, strict=True))

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
        return replace(found, values=values, correct=right, detail=detail, data=(*found.data, by, bool(verdicts)))


def _confirmed(reading: Reading, items: Sequence[Item]) -> list[bool]:
    """Return what the rules find right; an answer that they cannot read is not confirmed."""
    pairs = zip(items, reading.rate(items), strict=True)
    return [rating.correct is True and item.prediction is not None for item, rating in pairs]
