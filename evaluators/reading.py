"""An evaluator at work on a cell, block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluators.base import Evaluator, Rating
from leaderflow.core.errors import DataError
from leaderflow.core.types import Cell, Item, Row


class Reading:
    """Rates the rows of a cell: one unreadable answer is wrong and says why, instead of costing all others their score."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._error: DataError | None = None
        self._readable = False

    def survey(self, cell: Cell) -> None:
        """Show the evaluator all references, if it wants to see them."""
        if type(self.evaluator).survey is not Evaluator.survey:
            self.evaluator.survey(cell.references())

    def rate(self, items: Sequence[Item], predictions: Sequence[Any] | None = None) -> list[Rating]:
        """Return one rating a row of the next block, of other predictions than the rows' own where there are some."""
        own = [self.evaluator.blank if item.prediction is None else item.prediction for item in items]
        found = self._rated(own if predictions is None else predictions, items)
        self._readable = self._readable or not all(_is_error(rating) for rating in found)
        return found

    def finish(self) -> bool:
        """Return whether some answer could not be read.

        Raises:
            DataError: none could.
        """
        if self._error is not None and not self._readable:
            raise self._error
        return self._error is not None

    def _rated(self, given: Sequence[Any], items: Sequence[Item]) -> list[Rating]:
        references, rows, own = [item.reference for item in items], [item.row for item in items], self.evaluator
        try:
            return own.observed(given, references, rows)
        except DataError as exc:
            self._error = self._error or exc
        found: list[Rating] = []
        for prediction, reference, row in zip(given, references, rows, strict=True):
            try:
                found += own.observed([prediction], [reference], [row])
            except DataError as exc:
                found.append(replace(self._unread(reference, row), detail={"error": str(exc)}))
        return found

    def _unread(self, reference: Any, row: Row) -> Rating:
        """Return what an answer is worth that cannot be read: as if nothing was said, with every number at its worst."""
        own = self.evaluator
        try:
            rating = own.worst(own.observed([own.blank], [reference], [row])[0])
        except DataError:
            return Rating({own.metric: 0.0 if own.unit(own.metric)[1] else 1.0})
        return replace(rating, correct=None)


def _is_error(rating: Rating) -> bool:
    return isinstance(rating.detail, Mapping | Sequence) and "error" in rating.detail
