"""Evaluator classes in the style of OpenCompass: a class whose ``score(predictions, references, test_set)`` returns metrics."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError, LeaderflowError
from leaderflow.core.types import Json, Row


def adapted(cls: type) -> Callable[..., Any]:
    """Return a factory of evaluators that score by a foreign class; one of our own kind is returned as it is."""
    if issubclass(cls, Evaluator) or hasattr(cls, "questions") or not callable(getattr(cls, "score", None)):
        return cls

    def evaluator(**arguments: Json) -> ForeignEvaluator:
        return ForeignEvaluator(cls, arguments)

    return evaluator


class ForeignEvaluator(Evaluator):
    """Metrics as a foreign class gives them, in its units; the first number it returns leads. No scale is known.

    A sample's own verdict is taken from the `details` that the class returns, where they say ``correct``. The class sees all
    answers at once, so these, with references and rows, are held in memory until all is scored.
    """

    scale = None
    block = None
    uses_references = False

    def __init__(self, cls: type, arguments: Mapping[str, Json]) -> None:
        self.cls, self.arguments = cls, dict(arguments)

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
        """Return ratings that hold what `combine` hands to the class."""
        result = self._score(predictions, references, rows)
        verdicts = _verdicts(result.get("details"), len(predictions))
        inputs = zip(predictions, references, rows, verdicts, strict=True)
        return [
            Rating({} if verdict is None else {"correct": float(verdict)}, verdict, data=(prediction, reference, row))
            for prediction, reference, row, verdict in inputs
        ]

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the numbers of the class's result."""
        if not ratings:
            return {}
        predictions, references, rows = zip(*Ratings.of(ratings).data, strict=True)
        result = self._score(predictions, references, rows)
        return {str(k): float(v) for k, v in result.items() if isinstance(v, int | float) and not isinstance(v, bool)}

    def _score(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> Mapping[str, Any]:
        given = {"predictions": list(predictions), "references": list(references), "test_set": TestSet(rows)}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found = self._call(self.cls(**self.arguments).score, given)
        except LeaderflowError:
            raise
        except Exception as exc:
            said = f"{type(exc).__name__}: {exc}".splitlines()[0]
            raise DataError(f"{self.cls.__name__}.score failed: {said}") from exc
        if not isinstance(found, Mapping):
            return {"score": found}
        if "error" in found:
            raise DataError(f"{self.cls.__name__}.score: {found['error']}")
        return found

    @staticmethod
    def _call(score: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        parameters = inspect.signature(score).parameters
        return score(**{name: value for name, value in given.items() if name in parameters})


class TestSet(Sequence[Row]):
    """The samples as such classes expect them: rows by position, columns by name."""

    __test__ = False

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __getitem__(self, key: Any) -> Any:
        return [row[key] for row in self._rows] if isinstance(key, str) else self._rows[key]


def _verdicts(details: Any, count: int) -> list[bool | None]:
    values = list(details.values()) if isinstance(details, Mapping) else details
    if not isinstance(values, list) or len(values) != count:
        return [None] * count
    found = [value.get("correct") if isinstance(value, Mapping) else None for value in values]
    return [value if isinstance(value, bool) else None for value in found]
