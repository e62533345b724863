"""What answers are worth: one `Rating` an answer, and the ratings of a cell in columns."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from evaluators.packed import Array, Packed, view
from leaderflow.core.types import Json

Places = np.ndarray[Any, Any]
"""Positions of rows, an int array."""

_NONE = -1
"""Stands for a `correct` that is None."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What one answer is worth.

    `values` holds metric → number in 0–1, the leading metric first; `correct` is set where the leading metric is binary; `detail`
    is for people; `data` is whatever the evaluator's own `combine` needs: it is kept for every answer, smallest as numbers, short
    texts and tuples of such (`evaluators.packed`).
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


class Ratings(Sequence[Rating]):
    """Ratings in columns, without their details: 8 bytes a metric, 5 more, and `Rating.data` where it is kept.

    A sequence of `Rating` for whoever wants one after the other; `numbers`, `correct` and `data` are faster.
    """

    def __init__(self, *, keep_data: bool = True) -> None:
        self._shapes: dict[tuple[str, ...], int] = {}
        self._shape: Array = array("i")
        self._numbers: dict[str, Array] = {}
        self._correct: Array = array("b")
        self._data = Packed() if keep_data else None
        self._rows: Places | None = None
        """Which answers of the columns are meant; None: all."""

    @classmethod
    def of(cls, ratings: Sequence[Rating]) -> Ratings:
        """Return ratings in columns."""
        if isinstance(ratings, Ratings):
            return ratings
        found = cls()
        found.extend(ratings)
        return found

    def extend(self, ratings: Sequence[Rating]) -> None:
        """Append some ratings."""
        size = len(self)
        shapes = [tuple(rating.values) for rating in ratings]
        for shape in dict.fromkeys(shapes):
            self._number_of(shape, size)
        self._shape.extend([self._shapes[shape] for shape in shapes])
        for name, column in self._numbers.items():
            column.extend([rating.values.get(name, 0.0) for rating in ratings])
        self._correct.extend([_NONE if rating.correct is None else rating.correct for rating in ratings])
        if self._data is not None:
            self._data.extend([rating.data for rating in ratings])

    def take(self, rows: Places) -> Ratings:
        """Return some of them, any as often as it is named."""
        part = Ratings(keep_data=False)
        part._shapes, part._shape, part._numbers, part._correct = self._shapes, self._shape, self._numbers, self._correct
        part._data, part._rows = self._data, rows if self._rows is None else self._rows[rows]
        return part

    def _own(self, column: Array) -> Places:
        return view(column) if self._rows is None else view(column)[self._rows]

    @property
    def names(self) -> list[str]:
        """The metrics that some answer has a number of, in the order in which they first come."""
        known = list(self._shapes)
        if len(known) == 1 and len(self):
            return list(known[0])
        shapes, first = np.unique(self._own(self._shape), return_index=True)
        return list(dict.fromkeys(name for _, shape in sorted(zip(first, shapes, strict=True)) for name in known[shape]))

    def places(self, name: str) -> Places:
        """Return which answers have a number of a metric."""
        shapes = [number for shape, number in self._shapes.items() if name in shape]
        if len(shapes) == len(self._shapes):
            return np.arange(len(self))
        return np.flatnonzero(np.isin(self._own(self._shape), shapes))

    def numbers(self, name: str) -> array[float]:
        """Return a metric's numbers, of the answers that have one."""
        if name not in self._numbers:
            return array("d")
        numbers = self._own(self._numbers[name])
        return array("d", (numbers if all(name in shape for shape in self._shapes) else numbers[self.places(name)]).tobytes())

    @property
    def correct(self) -> Places:
        """1 right, 0 wrong, −1 where that is not said (int8)."""
        return self._own(self._correct)

    @property
    def right(self) -> list[bool]:
        """Whether each answer is said to be right."""
        found: list[bool] = (self.correct == 1).tolist()
        return found

    @property
    def data(self) -> list[Any]:
        """What `combine` needs of each answer."""
        if self._data is None:
            return [None] * len(self)
        return (self._data if self._rows is None else self._data.take(self._rows)).tolist()

    def totals(self) -> Any:
        """Return the sum of what `data` holds: of numbers, or of tuples of such part by part."""
        if self._data is None:
            raise TypeError("no data are kept of ratings whose metrics are means")
        return (self._data if self._rows is None else self._data.take(self._rows)).total()

    def leading(self, start: int, stop: int) -> tuple[Places, Places]:
        """Return the leading numbers of the answers from `start` to `stop`, and which of these answers have none."""
        shape = self._own(self._shape)[start:stop]
        found, absent = np.zeros(len(shape)), np.ones(len(shape), dtype=bool)
        for names, number in self._shapes.items():
            if names:
                at = shape == number
                found[at], absent[at] = self._own(self._numbers[names[0]])[start:stop][at], False
        return found, absent

    def settle(self) -> None:
        """Take what is not said to be right for wrong, where any answer is said to be either."""
        correct = view(self._correct)
        if (correct != _NONE).any():
            self._correct = np.maximum(correct, 0)

    def lead(self, name: str, numbers: Mapping[int, float]) -> None:
        """Give some answers a metric that leads: place → number."""
        known = list(self._shapes)
        for place, number in numbers.items():
            self._shape[place] = self._number_of((name, *known[self._shape[place]]), len(self))
            self._numbers[name][place] = number

    def _number_of(self, shape: tuple[str, ...], size: int) -> int:
        for name in shape:
            if name not in self._numbers:
                self._numbers[name] = array("d", bytes(8 * size))
        return self._shapes.setdefault(shape, len(self._shapes))

    def __len__(self) -> int:
        return len(self._shape if self._rows is None else self._rows)

    @overload
    def __getitem__(self, index: int) -> Rating: ...
    @overload
    def __getitem__(self, index: slice) -> Ratings: ...
    def __getitem__(self, index: int | slice) -> Rating | Ratings:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return next(iter(self.take(np.array([index]))))

    def __iter__(self) -> Iterator[Rating]:
        known, columns = list(self._shapes), {name: self._own(column).tolist() for name, column in self._numbers.items()}
        shapes, verdicts = self._own(self._shape).tolist(), self.correct.tolist()
        rows: Iterable[tuple[int, int, int, Any]] = zip(range(len(self)), shapes, verdicts, self.data, strict=True)
        for at, shape, correct, data in rows:
            values = {name: columns[name][at] for name in known[shape]}
            yield Rating(values, None if correct == _NONE else bool(correct), None, data)
