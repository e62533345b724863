"""Sample ids: the source row's own id, or a hash of its content. Unique, never a position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from leaderflow.core.errors import DataError
from leaderflow.core.identity import canonical_json, sha256_hex
from leaderflow.core.types import Row
from readers.record import Record

_DIGITS = 16


def sample_ids(records: Iterable[Record], id_column: str | None) -> list[str]:
    """Return an id for every record of a split, in order.

    Rows are taken as the source has them, before the recipe prepares them, so that a changed recipe keeps the ids.

    Args:
        records: the whole split: the ordinal among identical rows must not hang on a range.
        id_column: the column with the row's own id; None hashes the content.

    Raises:
        DataError: a row without an id, or two rows whose ids read the same (1 and "1" do).
    """
    if id_column is None:
        return _content_ids(record.row for record in records)
    first: dict[str, Record] = {}
    for record in records:
        name = _own_id(record, id_column)
        if name in first:
            raise DataError(f"two rows have the id {name!r} in column {id_column!r}: {first[name].place} and {record.place}")
        first[name] = record
    return list(first)


def _content_ids(rows: Iterable[Row]) -> list[str]:
    """Equal rows get 2, 3, … appended, in the source's order."""
    seen: Counter[str] = Counter()
    ids = []
    for row in rows:
        name = sha256_hex(canonical_json(row))[:_DIGITS]
        seen[name] += 1
        ids.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return ids


def _own_id(record: Record, id_column: str) -> str:
    value = record.row.get(id_column)
    if isinstance(value, str | int | float) and str(value).strip():
        return str(value)
    have = "is empty" if id_column in record.row else f"is missing (columns: {', '.join(record.row)})"
    if isinstance(value, list | dict):
        have = f"holds a {type(value).__name__}"
    raise DataError(f"{record.place}: the id column {id_column!r} {have}")
