"""How to write an evaluator: say what one answer is worth.

    class LengthEvaluator(Evaluator):
        \"\"\"Share of answers that are as long as the reference; 0–100, more is better.\"\"\"

        metric = "same_length"

        def observe(self, prediction, reference, row):
            return len(prediction) == len(reference)

`observe` returns True or False, a number in 0–1, a mapping of metric → number in 0–1, or a `Rating`. The metrics are the
means times `scale`. A metric that is not a mean over samples (BLEU, a correlation) overrides `combine`. An evaluator that is
faster on many answers at once overrides `observe_all`. The form of OpenCompass, all answers → metrics, is `evaluators.whole_set`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from evaluators.demands import Demand
from leaderflow.core.errors import DataError
from leaderflow.core.types import Json, Judging, Metric, Question, Row, Score

if TYPE_CHECKING:
    import pyarrow as pa

    from evaluators.cell import Item
    from evaluators.judges.rivals import Rivals


_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Rating:
    """What one answer is worth.

    `values` holds metric → number in 0–1, the leading metric first; `correct` is set where the leading metric is binary; `detail`
    is for people; `data` is whatever the evaluator's own `combine` needs.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    correct: bool | None = None
    detail: Json = None
    data: Any = None

    @property
    def score(self) -> float | None:
        """The leading metric's number, 0–1; None where a single answer has none."""
        return next(iter(self.values.values()), None)

    def wrong(self, lower: Collection[str] = ()) -> Rating:
        """Return this rating with every number at its worst, 1 for the metrics in `lower`: what a refused request is worth."""
        return Rating(
            {name: float(name in lower) for name in self.values}, None if self.correct is None else False, self.detail, self.data
        )


@dataclass(frozen=True, slots=True)
class Design:
    """How a cell was sampled: the column that groups rows which are not independent, the repeats n, and the k of pass@k."""

    cluster_column: str | None = None
    n: int = 1
    k: tuple[int, ...] = (1,)


class Evaluator:
    """Base of all evaluators that look at predictions and references. Subclasses state their source, range and direction.

    `metric` names the leading metric, `scale` is the unit's upper end (100 for percentages; None: no bound), `units` gives
    (scale, higher_is_better) of single metrics that differ. `needs` are the columns a row must have, `demands` what else must hold
    of it (`evaluators.demands`), `uses_references` says whether there must be an output column, `needs_sandbox` which languages'
    programs are executed. `blank` stands for an answer that was refused or in which nothing was found. `judging` says how judges
    are asked (`evaluators.judges`), `rivals` what the models answered that the judges compare with. `couples` says that rows are
    rated together (as a group of questions), so that every repeat of the set is rated by itself.
    """

    metric: ClassVar[str] = "score"
    scale: ClassVar[float | None] = 100.0
    higher_is_better: ClassVar[bool] = True
    units: ClassVar[Mapping[str, tuple[float | None, bool]]] = {}
    needs: frozenset[str] = frozenset()
    demands: Sequence[Demand] = ()
    blank: ClassVar[Json] = ""
    uses_references: bool = True
    needs_sandbox: frozenset[str] = frozenset()
    couples: ClassVar[bool] = False
    judging: Judging | None = None
    design: Design = Design()
    rivals: Rivals = MappingProxyType({})

    def observe(self, prediction: Any, reference: Any, row: Row) -> Any:
        """Return what one answer is worth: bool, number in 0–1, mapping metric → number in 0–1, or `Rating`."""
        raise NotImplementedError

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
        """Return what each answer is worth, as `observe` does."""
        return [self.observe(p, r, row) for p, r, row in zip(predictions, references, rows, strict=True)]

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the metrics of some ratings in their own units; by default the means of all values times the scale."""
        names = list(dict.fromkeys(name for rating in ratings for name in rating.values))
        means = {n: fmean([r.values[n] for r in ratings if n in r.values]) for n in names}
        return {n: mean * (self.unit(n)[0] or 1.0) for n, mean in means.items()}

    @property
    def averages(self) -> bool:
        """Whether the metrics are means of the ratings' values, so that their errors have a closed form."""
        return type(self).combine is Evaluator.combine

    def unit(self, name: str) -> tuple[float | None, bool]:
        """Return (scale, higher is better) of a metric."""
        return self.units.get(name, (self.scale, self.higher_is_better))

    def rate(self, predictions: Sequence[Any], references: Sequence[Any] | None, rows: Sequence[Row] | None = None) -> list[Rating]:
        """Return one rating a prediction.

        Raises:
            DataError: no predictions, lengths that differ, or an answer or a reference that this evaluator cannot read.
        """
        given = [None] * len(predictions) if references is None else references
        rows = [{}] * len(predictions) if rows is None else rows
        if not predictions:
            raise DataError(f"{type(self).__name__}: no predictions to score")
        if len(given) != len(predictions) or len(rows) != len(predictions):
            raise DataError(f"{type(self).__name__}: {len(predictions)} predictions, {len(given)} references and {len(rows)} rows")
        try:
            return [self._rating(value) for value in self.observe_all(predictions, given, rows)]
        except _UNREADABLE as exc:
            raise DataError(f"{type(self).__name__} cannot score these answers: {type(exc).__name__}: {exc}") from exc

    def measure(
        self, predictions: Sequence[Any], references: Sequence[Any] | None = None, rows: Sequence[Row] | None = None
    ) -> dict[str, float]:
        """Return the metrics of some predictions in their own units, without tables: the form for notebooks and tests."""
        return self.combine(self.rate(predictions, references, rows))

    def _rating(self, value: Any) -> Rating:
        if isinstance(value, Rating):
            return value
        if isinstance(value, bool):
            return Rating({self.metric: float(value)}, correct=value)
        return Rating(dict(value)) if isinstance(value, Mapping) else Rating({self.metric: float(value)})

    def _rate_all(self, predictions: list[Any], references: list[Any], rows: list[Row]) -> list[Rating]:
        """Rate a cell; one unreadable answer is wrong and says why, instead of costing all others their score."""
        if not predictions:
            return []
        try:
            return self.rate(predictions, references, rows)
        except DataError:
            found: list[Rating] = []
            for prediction, reference, row in zip(predictions, references, rows, strict=True):
                try:
                    found += self.rate([prediction], [reference], [row])
                except DataError as exc:
                    found.append(Rating({self.metric: 0.0}, None, {"error": str(exc)}))
            if all("error" in (rating.detail or {}) for rating in found):
                raise
            verdicts = any(rating.correct is not None for rating in found)
            return [replace(r, correct=False) if verdicts and r.correct is None else r for r in found]

    def check(self, references: Sequence[Json], rows: Sequence[Row]) -> None:
        """See that all rows can be scored, before any request is paid for.

        Raises:
            DataError: a row that no answer could be scored for, by its place from 0 on.
        """
        for place, (reference, row) in enumerate(zip(references, rows, strict=True)):
            try:
                self.check_row(reference, row)
            except DataError as exc:
                raise DataError(f"row {place}: {exc}") from exc

    def check_row(self, reference: Json, row: Row) -> None:
        """See that one row meets the demands."""
        for demand in self.demands:
            demand.check(type(self).__name__, reference, row)

    def _rate_items(self, items: Sequence[Item]) -> list[Rating]:
        predictions = [self.blank if item.prediction is None else item.prediction for item in items]
        return self._rate_all(predictions, [item.reference for item in items], [item.row for item in items])

    def _rate_repeats(self, items: Sequence[Item]) -> list[Rating]:
        """Rate each repeat of the set by itself."""
        found: dict[int, Rating] = {}
        for repeat in dict.fromkeys(item.repeat for item in items):
            places = [at for at, item in enumerate(items) if item.repeat == repeat]
            found |= zip(places, self._rate_items([items[at] for at in places]), strict=True)
        return [found[at] for at in range(len(items))]

    def questions(self, extracted: pa.Table, samples: pa.Table, outputs: pa.Table) -> list[Question]:
        """Return what judges are asked: nothing."""
        return []

    def score(
        self, extracted: pa.Table, samples: pa.Table, outputs: pa.Table, answers: pa.Table | None = None
    ) -> tuple[list[Score], list[Metric]]:
        """Score every row whose status is not ``error``, and the cell (`docs/scoring.md`)."""
        from evaluators.cell import items_of, metrics_of, scores_of

        items = items_of(extracted, samples, outputs, self)
        ratings = self._rate_repeats(items) if self.couples else self._rate_items(items)
        lower = {name for rating in ratings for name in rating.values if not self.unit(name)[1]}
        ratings = [r.wrong(lower) if item.refused else r for r, item in zip(ratings, items, strict=True)]
        scores = scores_of(items, ratings)
        return scores, metrics_of(self, items, ratings)
