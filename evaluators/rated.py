"""What an evaluator said of a cell's rows, kept so that a row more is some 20 bytes more: numbers in columns, details on disk."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evaluators.packed import view
from evaluators.pipeline import json_text
from evaluators.ratings import Places, Rating, Ratings
from leaderflow.core.artifacts import RATED
from leaderflow.core.types import Item

if TYPE_CHECKING:
    from evaluators.base import Evaluator

_BATCH = 10_000
_IN_MEMORY = 1 << 20
"""Bytes of details that need no file."""


class Rated:
    """The ratings of a cell, row by row, with what its metrics and their errors hang on.

    Args:
        evaluator: whose ratings they are; `Rating.data` is kept only where its metrics are no plain means.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.ratings = Ratings(keep_data=not evaluator.plain)
        self._places, self._repeats, self._refused = array("i"), array("i"), array("b")
        self._clusters: list[pa.Array] = []
        self._details = Details()

    def add(self, items: Sequence[Item], ratings: Sequence[Rating]) -> None:
        """Take the ratings of the next rows."""
        self.ratings.extend(ratings)
        self._places.extend([item.place for item in items])
        self._repeats.extend([item.repeat for item in items])
        self._refused.extend([item.refused for item in items])
        if self.evaluator.design.cluster_column is not None:
            self._clusters.append(pa.array([item.cluster for item in items], type=pa.string()))
        self._details.add([None if rating.detail is None else json_text(rating.detail) for rating in ratings])

    def couple(self) -> None:
        """Let the evaluator say what rows are worth together, every repeat of the set by itself."""
        data, repeats, refused = self.ratings.data, self.repeats, view(self._refused)
        worst = 0.0 if self.evaluator.unit(self.evaluator.metric)[1] else 1.0
        for repeat in np.unique(repeats).tolist():
            rows = np.flatnonzero(repeats == repeat).tolist()
            found = self.evaluator.couple([data[row] for row in rows])
            numbers = {rows[at]: worst if refused[rows[at]] else number for at, number in found.items()}
            self.ratings.lead(self.evaluator.metric, numbers)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def repeats(self) -> Places:
        """The repeat of each row, from 0 on."""
        return view(self._repeats)

    @property
    def samples(self) -> Places:
        """The number of each row's sample, in the order in which samples first come."""
        return numbered(view(self._places))

    @property
    def clusters(self) -> Places | None:
        """The number of each row's cluster, in the order in which clusters first come; None without a cluster column."""
        if not self._clusters:
            return None
        chunks = pa.chunked_array(self._clusters).dictionary_encode().chunks
        return np.concatenate([chunk.indices.to_numpy() for chunk in chunks])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as RATED batches."""
        clusters = pa.chunked_array(self._clusters, type=pa.string())
        start = 0
        for detail in self._details.arrays():
            stop = start + len(detail)
            correct, (score, absent) = self.ratings.correct[start:stop], self.ratings.leading(start, stop)
            cluster = clusters.slice(start, len(detail)).combine_chunks() if self._clusters else pa.nulls(len(detail), pa.string())
            columns = [pa.array(correct == 1, mask=correct < 0), pa.array(score, mask=absent), cluster, detail]
            yield pa.RecordBatch.from_arrays(columns, schema=RATED)
            start = stop


def numbered(values: Places) -> Places:
    """Return values as numbers from 0 on, in the order in which they first come."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int32)
    numbers[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    found: Places = numbers[inverse]
    return found


class Details:
    """A column of texts, most of them perhaps absent: on disk as soon as they are many."""

    def __init__(self) -> None:
        self._blank = 0
        self._file: IO[bytes] | None = None
        self._writer: Any = None

    def add(self, texts: Sequence[str | None]) -> None:
        """Append some texts."""
        if self._file is None and all(text is None for text in texts):
            self._blank += len(texts)
            return
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - lives as long as this object
            self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, mode="w"), pa.schema([RATED.field("detail")]))
        self._writer.write_batch(pa.record_batch([pa.array(texts, type=pa.string())], names=["detail"]))

    def arrays(self) -> Iterator[pa.Array]:
        """Yield all texts in order; nothing can be added any more."""
        for start in range(0, self._blank, _BATCH):
            yield pa.nulls(min(_BATCH, self._blank - start), pa.string())
        if self._file is not None:
            self._writer.close()
            self._file.seek(0)
            for batch in pa.ipc.open_stream(pa.PythonFile(self._file, mode="r")):
                yield batch.column(0)
