"""Reads JSON, JSON-lines and CSV files strictly: every fault is named with its file and line, no value is changed on the way."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from leaderflow.core.errors import DataError
from leaderflow.core.types import Json, Row
from readers.record import Record

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_STRING = r'"(?:[^"\\]|\\.)*"'
_SURROGATE = re.compile(r"\\u[dD][89abAB]", re.ASCII)


def read_jsonl(path: Path) -> Iterator[Record]:
    """Yield the objects of a file with one JSON object a line; blank lines are passed over.

    Raises:
        DataError: names file and line of what is not a JSON object (NaN and Infinity are none) or not UTF-8.
    """
    for number, raw in enumerate(_bytes(path).splitlines(), 1):
        if raw.strip():
            place = f"{path}:{number}"
            yield Record(_object(_parse(_decode(raw, place), place), place), place)


def read_json(path: Path, field: str | None = None) -> Iterator[Record]:
    """Yield the objects of a JSON document.

    It is a list of objects, an object with such a list under one key, an object of objects (whose keys become the column ``key``),
    or JSON lines that are named so.

    Args:
        path: the file.
        field: the key of the list; by default the only one that holds a list of objects.

    Raises:
        DataError: the document is not JSON or holds no such list.
    """
    text = _decode(_bytes(path), str(path))
    try:
        document = _parse(text, str(path), whole=True)
    except json.JSONDecodeError as exc:
        if exc.msg == "Extra data" and text.lstrip().startswith("{"):
            yield from read_jsonl(path)
            return
        raise DataError(f"{path}:{exc.lineno}: not JSON: {exc.msg} (column {exc.colno})") from None
    for number, row in enumerate(_rows(document, field, path), 1):
        place = f"{path}: row {number}"
        yield Record(_object(row, place), place)


def read_csv(path: Path, columns: Sequence[str] | None = None, delimiter: str = ",") -> Iterator[Record]:
    """Yield the rows of a CSV file (RFC 4180), every value as text.

    Args:
        path: the file.
        columns: the names of the columns of a file without a header.
        delimiter: what stands between the fields; after a tab, quotes are ordinary characters.

    Raises:
        DataError: names file and line of a quote that never closes, or of a row with too few or too many fields.
    """
    csv.field_size_limit(2**31 - 1)
    lines = _lines(_decode(_bytes(path), str(path)))
    quoted = delimiter != "\t"
    reader = csv.reader(lines, strict=True, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    names = list(columns) if columns else None
    start = 1
    try:
        for fields in reader:
            place, start = f"{path}:{start}", reader.line_num + 1
            if not fields:
                continue
            if names is None:
                names = _header(fields, place)
            else:
                yield Record(_named(names, fields, place), place)
    except csv.Error as exc:
        quote = _open_quote(lines[start - 1 :], delimiter)
        raise DataError(f"{path}:{start + quote}: a quoted field opens here and is not closed properly ({exc})") from None


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise DataError(f"cannot read {path}: {exc.strerror}") from None
    if data.startswith(_UTF16):
        raise DataError(f"{path} is UTF-16; save it as UTF-8")
    return data.removeprefix(_BOM)


def _decode(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = raw.count(b"\n", 0, exc.start)
        raise DataError(f"{place}{f':{line + 1}' if line else ''}: not UTF-8 (byte {raw[exc.start]:#04x})") from None


class _Unfit(ValueError):
    """A number that JSON cannot hold."""


class _Doubled(ValueError):
    """A key that stands twice in one object: which value is meant, nobody can say."""


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Doubled(next(key for key in keys if keys.count(key) > 1))
    return found


def _refuse(text: str) -> Any:
    raise _Unfit(text)


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _parse(text: str, place: str, *, whole: bool = False) -> Json:
    """Parse one JSON text; `whole` lets a JSONDecodeError out, and finds the line of a bad number in a document."""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_float, object_pairs_hook=_unique)
    except _Unfit as exc:
        line = f":{_line_of(str(exc), text)}" if whole else ""
        raise DataError(f"{place}{line}: {exc} is not JSON; write null for a missing value") from None
    except _Doubled as exc:
        raise DataError(f"{place}: the key {str(exc)!r} stands twice in one object; keep one") from None
    except json.JSONDecodeError as exc:
        if whole:
            raise
        raise DataError(f"{place}: not JSON: {exc.msg} (column {exc.colno})") from None
    except (ValueError, RecursionError) as exc:
        raise DataError(f"{place}: cannot be read: {exc}") from None
    if _SURROGATE.search(text):
        _check_text(value, place)
    return value


def _check_text(value: Json, place: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataError(f"{place}: holds half of a surrogate pair, which is no text") from None


def _line_of(number: str, text: str) -> int:
    found = (m for m in re.finditer(f"{_STRING}|{re.escape(number)}", text) if not m[0].startswith('"'))
    return text.count("\n", 0, next(found).start()) + 1


def _object(value: Json, place: str) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{place}: a row must be a JSON object, got {type(value).__name__}")
    return value


def _rows(document: Json, field: str | None, path: Path) -> list[Json]:
    if isinstance(document, list) and field is None:
        return document
    if not isinstance(document, dict):
        raise DataError(f"{path}: a list of objects was expected, got {type(document).__name__}")
    if field is None and document and all(isinstance(row, dict) for row in document.values()):
        return [{"key": key, **row} for key, row in document.items()]
    lists = {k: v for k, v in document.items() if isinstance(v, list) and all(isinstance(item, dict) for item in v)}
    if field is None and len(lists) == 1:
        return next(iter(lists.values()))
    if field in lists:
        return lists[field]
    raise DataError(f"{path}: name the key that holds the rows with `arguments: {{field: …}}` (keys: {', '.join(document)})")


def _lines(text: str) -> list[str]:
    """Lines with their ends; only LF, CR LF and CR end one: other breaks are part of a field."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def _header(fields: list[str], place: str) -> list[str]:
    if twice := next((name for name in fields if fields.count(name) > 1), None):
        raise DataError(f"{place}: two columns are named {twice!r}; without a header, name the columns with `columns:`")
    return fields


def _named(names: list[str], fields: list[str], place: str) -> Row:
    if len(fields) != len(names):
        raise DataError(f"{place}: {len(fields)} fields, but {len(names)} columns ({', '.join(names)})")
    return dict(zip(names, fields, strict=True))


def _open_quote(lines: list[str], delimiter: str) -> int:
    """Return how many lines below the start of a faulty record its unclosed quote opens."""
    text, at = "".join(lines), 0
    border = "[\r\n" + re.escape(delimiter) + "]"
    field = re.compile(rf'"[^"]*(?:""[^"]*)*"(?={border}|\Z)|(?!")[^\r\n{re.escape(delimiter)}]*')
    while found := field.match(text, at):
        at = found.end() + 1
    return len(_lines(text[:at])) - (not text[:at].endswith(("\r", "\n"))) if at else 0
