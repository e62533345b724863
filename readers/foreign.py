"""Dataset classes in the style of OpenCompass: ``load(**arguments)`` gives a `datasets.Dataset` or a `DatasetDict`."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from leaderflow.core.errors import DataError, LeaderflowError
from leaderflow.core.identity import sha256_hex
from leaderflow.core.opencompass.data import candidates, data_dir
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from readers.columnar import records
from readers.files import file_hash, remedy
from readers.record import ONLY, Record, Source

_MOST_BYTES = 1 << 28
"""Files above this size count by name, size and time in a fingerprint instead of by content."""


def adapted(cls: type) -> Callable[..., Any]:
    """Return a reader that takes its rows from a class with ``load``; a class that is a reader already is returned as it is."""
    if not callable(getattr(cls, "load", None)) or hasattr(cls, "records"):
        return cls

    def reader(dataset: DatasetSpec, source: Source, **arguments: Json) -> ForeignDataset:
        return ForeignDataset(cls, dataset, source, arguments)

    return reader


class ForeignDataset:
    """The rows that a foreign class gives.

    Args:
        cls: the class; its ``load`` takes what the dataset block holds beside its sections.
        dataset: the dataset's spec.
        source: where to look for data.
        arguments: further arguments of ``load``.
    """

    def __init__(self, cls: type, dataset: DatasetSpec, source: Source, arguments: Mapping[str, Json]) -> None:
        self.cls, self.dataset, self.source = cls, dataset, source
        named = {"path": dataset.path, "name": dataset.name, "revision": dataset.revision}
        self.arguments = {name: value for name, value in named.items() if value is not None} | dict(arguments)
        self._loaded: dict[str | None, Any] | None = None

    def splits(self) -> Sequence[str | None]:
        """Return the splits; a dataset without any has one that serves as samples and as pool."""
        return list(self._load())

    def records(self, split: str | None) -> list[Record]:
        """Return the rows of a split."""
        return list(records(_rows(self._load()[split]), f"{self.dataset.abbr} {split or ''}".strip()))

    def fingerprint(self) -> Json:
        """Return the hashes of the class's code and of the files that its arguments name."""
        named = [value for name, value in self.arguments.items() if isinstance(value, str) and ("path" in name or "file" in name)]
        with data_dir(self.source.data_dir):
            found = [next((place for place in candidates(value) if place.exists()), None) for value in named]
        return {"code": _code(self.cls), "files": [_content(place) if place else None for place in found]}

    def _load(self) -> dict[str | None, Any]:
        if self._loaded is None:
            load: Callable[..., Any] = self.cls.load  # type: ignore[attr-defined]
            try:
                with data_dir(self.source.data_dir), contextlib.redirect_stdout(io.StringIO()):
                    found = load(**self.arguments)
            except LeaderflowError:
                raise
            except FileNotFoundError as exc:
                raise DataError(f"dataset {self.dataset.abbr!r}: no file {exc.filename}; {remedy(self.source)}") from exc
            except Exception as exc:
                said = f"{type(exc).__name__}: {exc}".splitlines()[0]
                raise DataError(f"dataset {self.dataset.abbr!r}: {self.cls.__name__}.load failed: {said}") from exc
            self._loaded = dict(found) if isinstance(found, Mapping) else {ONLY: found}
        return self._loaded


def _rows(table: Any) -> list[dict[str, Json]]:
    rows: Iterable[Any] = table.to_list() if hasattr(table, "to_list") else table
    return [dict(row) for row in rows]


def _code(cls: type) -> str:
    function = inspect.unwrap(cls.load)  # type: ignore[attr-defined]
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return sha256_hex(Path(file).read_bytes()) if Path(file).is_file() else ""


def _content(place: Path) -> Json:
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    return [[file.relative_to(place.parent).as_posix(), _file(file)] for file in files]


def _file(file: Path) -> Json:
    state = file.stat()
    return file_hash(file) if state.st_size <= _MOST_BYTES else [state.st_size, state.st_mtime_ns]
