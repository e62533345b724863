"""Rows of typed sources (Parquet files, hub datasets) as JSON values."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from leaderflow.core.errors import DataError
from leaderflow.core.types import Json, Row
from readers.record import Record


def read_parquet(path: Path) -> Iterator[Record]:
    """Yield the rows of a Parquet file.

    Raises:
        DataError: the file is no Parquet file, or a value has no JSON form.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as exc:
        raise DataError(f"cannot read {path}: {str(exc).splitlines()[0]}") from None
    yield from records(table.to_pylist(), str(path))


def records(rows: Iterable[Row], name: str) -> Iterator[Record]:
    """Yield typed rows as records whose place is ``NAME: row N``, counted from 1."""
    for number, row in enumerate(rows, 1):
        place = f"{name}: row {number}"
        yield Record({column: _plain(value, place, column) for column, value in row.items()}, place)


def _plain(value: Any, place: str, column: str) -> Json:
    """NaN is how writers of typed columns mark a missing number, so it becomes null; dates become ISO 8601 text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and not math.isinf(value):
        return None if math.isnan(value) else value
    if isinstance(value, dict):
        return {str(key): _plain(part, place, column) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, place, column) for part in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else str(value)
    raise DataError(f"{place}: column {column!r} holds {type(value).__name__} {value!r:.40}, which has no JSON form")
