"""Tables that are read batch by batch, so that how many rows they have is no matter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

Row = TypeVar("Row")

PIECE = 500
"""Rows that are Python objects at a time."""


class Rows(Protocol):
    """The rows of a table, in its order."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows, from the first row on; as often as needed."""
        ...


class TableRows:
    """The rows of a table in memory."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Cut the table."""
        yield from self.table.select(list(columns)).to_batches()


def as_rows(table: pa.Table | Rows) -> Rows:
    """Return the rows of a table, wherever it is."""
    return TableRows(table) if isinstance(table, pa.Table) else table


def tuples(rows: Rows, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield some columns of every row, the values as Python has them."""
    for batch in rows.batches(columns):
        for start in range(0, batch.num_rows, PIECE):
            piece = batch.slice(start, PIECE)
            yield from zip(*(piece.column(name).to_pylist() for name in columns), strict=True)


def recut(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of `size`, the last one perhaps shorter, however they were cut before."""
    held, rows = list[pa.RecordBatch](), 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, size - rows)
            held, rows, batch = [*held, part], rows + part.num_rows, batch.slice(part.num_rows)
            if rows == size:
                yield _joined(held)
                held, rows = [], 0
    if held:
        yield _joined(held)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


Found = dict[Row, tuple[int, tuple[Any, ...]]]
"""What names a row → its place in the table, and the columns that were asked for."""


class Finder(Generic[Row]):
    """Finds rows of a table by their key. Cheap where they are asked for roughly in the table's order; any order works.

    Args:
        rows: the table.
        columns: those of a row.
        key: columns → what names the row.
    """

    def __init__(self, rows: Rows, columns: Sequence[str], key: Callable[..., Row]) -> None:
        self.rows, self.columns, self.key = rows, columns, key
        self._pieces: Iterator[Found[Row]] = iter(())
        self._piece: Found[Row] = {}
        self._start, self._next = -1, 0

    def find(self, keys: Collection[Row]) -> Found[Row]:
        """Return key → (place in the table, columns) of those of the keys that are there."""
        if self._start < 0:
            self._advance()
        found: Found[Row] = {}
        missing, began = set(keys), self._start
        while missing:
            found |= {key: self._piece[key] for key in missing & self._piece.keys()}
            missing -= found.keys()
            if missing:
                self._advance()
                if self._start == began:
                    break
        return found

    def _advance(self) -> None:
        """Go to the next rows, behind the last ones to the first."""
        piece = next(self._pieces, None)
        if piece is None:
            self._next, self._pieces = 0, _pieces(self.rows, self.columns, self.key)
            piece = next(self._pieces, {})
        self._piece, self._start = piece, self._next
        self._next += len(piece)


def _pieces(rows: Rows, columns: Sequence[str], key: Callable[..., Row]) -> Iterator[Found[Row]]:
    """Yield all rows, some at a time. No method: a finder that is given up must not wait, with its batch, for a collection."""
    place = 0
    for batch in rows.batches(columns):
        for start in range(0, batch.num_rows, PIECE):
            part = batch.slice(start, PIECE)
            lines = zip(*(part.column(name).to_pylist() for name in columns), strict=True)
            yield {key(*line): (place + at, line) for at, line in enumerate(lines)}
            place += part.num_rows
