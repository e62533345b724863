"""A column of values in little memory: numbers as the machine has them, words as codes, tuples part by part."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

_SMALL = 2**31
_CODES = {bool: "b", int: "i", float: "d"}

Array = Any
"""An `array.array` that still grows, or the numpy array of a part."""


def view(values: Array) -> np.ndarray[Any, Any]:
    """Return an array as numpy sees it, without a copy."""
    if isinstance(values, np.ndarray):
        return values
    return np.frombuffer(values, dtype=values.typecode) if len(values) else np.empty(0, dtype=values.typecode)


class Packed:
    """Values of one kind, None among them: they come back equal and of the same type.

    Kinds are bool, int, float, text, and tuples of one length of such; a column of anything else is a plain list. One value takes
    1 byte (bool), 4 (int; 8 beyond 31 bits), 8 (float) or 4 (text, and each different text once).
    """

    __slots__ = ("_codes", "_kind", "_nulls", "_size", "_store")

    def __init__(self) -> None:
        self._kind: Any = None
        self._store: Any = None
        self._codes: dict[str, int] = {}
        self._nulls: Array | None = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Sequence[Any]) -> None:
        """Append some values."""
        kind, nulls = _kind_of(values)
        if kind is not None and self._kind is None:
            self._begin(kind)
        elif kind not in (None, self._kind):
            self._loosen()
        if self._kind is not list and (nulls or self._nulls is not None):
            if self._nulls is None:
                self._nulls = array("b", bytes(self._size))
            self._nulls.extend([value is None for value in values])
        self._append(values)

    def tolist(self) -> list[Any]:
        """Return the values."""
        if self._kind is None:
            return [None] * self._size
        if self._kind is list:
            return list(self._store)
        if isinstance(self._kind, tuple):
            found: list[Any] = list(zip(*(part.tolist() for part in self._store), strict=True))
        elif self._kind is str:
            found = np.array([*self._codes, None], dtype=object)[view(self._store)].tolist()
        else:
            found = view(self._store).astype(bool).tolist() if self._kind is bool else self._store.tolist()
        if self._nulls is not None:
            found = [None if null else value for null, value in zip(self._nulls, found, strict=True)]
        return found

    def total(self) -> Any:
        """Return the sum of all values, of tuples part by part; 0 without any.

        Raises:
            TypeError: values that have no sum, None among them.
        """
        if isinstance(self._kind, tuple) and self._nulls is None:
            return tuple(part.total() for part in self._store)
        if self._kind in (bool, int) and self._nulls is None:
            numbers = view(self._store)
            largest = max(-int(numbers.min()), int(numbers.max())) if len(numbers) else 0
            if largest * len(numbers) < 2**63:
                return int(numbers.sum(dtype=np.int64))
        return sum(self.tolist())

    def take(self, rows: np.ndarray[Any, Any]) -> Packed:
        """Return the column of some rows, any of them as often as it is named; it does not grow."""
        part = Packed()
        part._kind, part._size, part._codes = self._kind, len(rows), self._codes
        part._nulls = None if self._nulls is None else view(self._nulls)[rows]
        if self._kind is list:
            part._store = [self._store[row] for row in rows.tolist()]
        elif isinstance(self._kind, tuple):
            part._store = [own.take(rows) for own in self._store]
        elif self._kind is not None:
            part._store = view(self._store)[rows]
        return part

    def _begin(self, kind: Any) -> None:
        """Take the kind of the first values that are not None; what came before is None."""
        before, self._kind, self._size = self._size, kind, 0
        if isinstance(kind, tuple):
            self._store = [Packed() for _ in kind]
        elif kind is list:
            self._store, self._nulls = [], None
        else:
            self._store = array("i" if kind is str else _CODES[kind])
        self._append([None] * before)

    def _loosen(self) -> None:
        """Become a plain list."""
        if self._kind is not list:
            self._store, self._kind, self._nulls, self._codes = self.tolist(), list, None, {}

    def _append(self, values: Sequence[Any]) -> None:
        self._size += len(values)
        if self._kind is list:
            self._store.extend(values)
        elif isinstance(self._kind, tuple):
            for at, part in enumerate(self._store):
                part.extend([None if value is None else value[at] for value in values])
        elif self._kind is str:
            codes = self._codes
            self._store.extend([codes.setdefault("" if value is None else value, len(codes)) for value in values])
        elif self._kind is not None:
            numbers = [0 if value is None else value for value in values]
            if self._store.typecode == "i" and numbers and (min(numbers) < -_SMALL or max(numbers) >= _SMALL):
                self._store = array("q", self._store)
            self._store.extend(numbers)


def _kind_of(values: Sequence[Any]) -> tuple[Any, bool]:
    """Return what all values are that are not None (None: there is no other), and whether some are None."""
    types = set(map(type, values))
    nulls = type(None) in types
    types.discard(type(None))
    if not types:
        return None, nulls
    kind = types.pop() if len(types) == 1 else list
    if kind is tuple:
        lengths = {len(value) for value in values if value is not None}
        return ((None,) * lengths.pop() if len(lengths) == 1 else None) or list, nulls
    if kind is int and any(value is not None and not -(2**63) <= value < 2**63 for value in values):
        return list, nulls
    return (kind if kind in (bool, int, float, str) else list), nulls
