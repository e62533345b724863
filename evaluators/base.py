"""How to write an evaluator: say what one answer is worth.

    class LengthEvaluator(Evaluator):
        \"\"\"Share of answers that are as long as the reference; 0–100, more is better.\"\"\"

        metric = "same_length"

        def observe(self, prediction, reference, row):
            return len(prediction) == len(reference)

`observe` returns True or False, a number in 0–1, a mapping of metric → number in 0–1, or a `Rating`. The metrics are the
means times `scale`. A metric that is not a mean over samples (BLEU, a correlation) overrides `combine`. An evaluator that is
faster on many answers at once overrides `observe_all`, which gets a block of the cell at a time. One that must know all
references before it rates the first answer overrides `survey`; one whose leading metric belongs to several rows, `couple`. The
form of OpenCompass, all answers → metrics, is `evaluators.whole_set`: it alone holds all answers in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from evaluators.demands import Demand
from evaluators.ratings import Rating, Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.streams import PIECE
from leaderflow.core.types import Cell, Json, Judging, Metric, Question, Row

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Design", "Evaluator", "Rating"]

_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


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
    are asked (`evaluators.judges`). `block` is how many rows are rated at once; None: all, held in memory.
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
    block: int | None = PIECE
    judging: Judging | None = None
    design: Design = Design()

    def observe(self, prediction: Any, reference: Any, row: Row) -> Any:
        """Return what one answer is worth: bool, number in 0–1, mapping metric → number in 0–1, or `Rating`."""
        raise NotImplementedError

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
        """Return what each answer of a block is worth, as `observe` does."""
        return [self.observe(p, r, row) for p, r, row in zip(predictions, references, rows, strict=True)]

    def survey(self, references: Iterable[Any]) -> None:
        """Look at the references of all rows before the first answer is rated."""

    def couple(self, data: Sequence[Any]) -> Mapping[int, float]:
        """Return the leading metric's numbers where they belong to several rows: place among these rows → number in 0–1.

        `data` is what `observe` left in `Rating.data` of all rows of one repeat; rows that are not named have no such number.
        """
        raise NotImplementedError

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the metrics of some ratings in their own units; by default the means of all values times the scale."""
        columns = Ratings.of(ratings)
        return {name: fmean(columns.numbers(name)) * (self.unit(name)[0] or 1.0) for name in columns.names}

    @property
    def averages(self) -> bool:
        """Whether the metrics are means of the ratings' values, so that their errors have a closed form."""
        return type(self).combine is Evaluator.combine

    @property
    def plain(self) -> bool:
        """Whether the ratings' values are all that is needed of them, and not their data."""
        return type(self).combine is Evaluator.combine and not self.couples

    @property
    def couples(self) -> bool:
        """Whether the leading metric belongs to several rows."""
        return type(self).couple is not Evaluator.couple

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
        self.survey(given)
        found = self.observed(predictions, given, rows)
        if self.couples:
            numbers = self.couple([rating.data for rating in found])
            for at, number in numbers.items():
                found[at] = replace(found[at], values={self.metric: number, **found[at].values})
        return found

    def observed(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return the ratings of a block.

        Raises:
            DataError: an answer or a reference that this evaluator cannot read.
        """
        try:
            return [self._rating(value) for value in self.observe_all(predictions, references, rows)]
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

    def check(self, rows: Iterable[tuple[Json, Row]]) -> None:
        """See that all rows, each with its reference, can be scored, before any request is paid for.

        Raises:
            DataError: a row that no answer could be scored for, by its place from 0 on.
        """
        for place, (reference, row) in enumerate(rows):
            try:
                self.check_row(reference, row)
            except DataError as exc:
                raise DataError(f"row {place}: {exc}") from exc

    def check_row(self, reference: Json, row: Row) -> None:
        """See that one row meets the demands."""
        for demand in self.demands:
            demand.check(type(self).__name__, reference, row)

    def questions(self, cell: Cell) -> Iterator[Question]:
        """Yield what judges are asked: nothing."""
        return iter(())

    def score(self, cell: Cell, answers: pa.Table | None = None) -> tuple[Iterator[pa.RecordBatch], list[Metric]]:
        """Score every row, and the cell (`docs/scoring.md`)."""
        from evaluators.metrics import metrics_of
        from evaluators.rated import Rated
        from evaluators.reading import Reading

        reading, rated = Reading(self), Rated(self)
        reading.survey(cell)
        for items in cell.blocks(self.block):
            ratings = reading.rate(items)
            rated.add(items, [self.worst(r) if item.refused else r for r, item in zip(ratings, items, strict=True)])
        if reading.finish():
            rated.ratings.settle()
        if self.couples:
            rated.couple()
        return rated.batches(), metrics_of(self, rated, cell.predictions)

    def worst(self, rating: Rating) -> Rating:
        """Return a rating with every number at its worst: what a refused request is worth."""
        return rating.wrong({name for name in rating.values if not self.unit(name)[1]})
