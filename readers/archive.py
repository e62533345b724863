"""The base of the dataset classes that carry names of OpenCompass: the files of its data archive, one a split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from leaderflow.core.errors import DataError
from leaderflow.core.opencompass.data import candidates, data_dir
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.files import file_hash, read_file, remedy
from readers.record import Record, Source
from readers.text import read_csv


class RecordedDataset:
    """Base: the files of the splits below the path, and the columns of a row.

    Args:
        dataset: the dataset's spec; its `path` is an id such as ``opencompass/gsm8k``, or a path.
        source: where to look.
        file_name: the file below the path, for classes that take one.
        local_mode: has no effect; the path is looked up in the same places.
        num_repeats: how often each row comes, one after the other.
    """

    files: ClassVar[Mapping[str | None, str]]
    columns: ClassVar[Sequence[str] | None] = None
    """Names of the columns of CSV files whose own header, if there is one, is not used."""
    header: ClassVar[bool] = False
    """Whether the first line of a CSV file with `columns` is its header."""

    def __init__(
        self, dataset: DatasetSpec, source: Source, file_name: str | None = None, local_mode: bool = False, num_repeats: int = 1
    ) -> None:
        self.dataset, self.source, self.file_name, self.num_repeats = dataset, source, file_name, num_repeats

    def row(self, row: Row, split: str | None) -> Row | None:
        """Return the row as the class gives it, or None where it leaves it out."""
        return row

    def splits(self) -> Sequence[str | None]:
        """Return the splits of the class."""
        return list(self.files)

    def records(self, split: str | None) -> list[Record]:
        """Return the rows of a split."""
        found = []
        for record in self.read(self._file(split)):
            try:
                row = self.row(record.row, split)
            except (KeyError, IndexError, TypeError, ValueError, SyntaxError) as exc:
                name = type(self).__name__
                raise DataError(f"{record.place}: the row is not as {name} expects it: {type(exc).__name__}: {exc}") from exc
            found += [Record(row, record.place)] * self.num_repeats if row is not None else []
        return found

    def read(self, file: Path) -> Iterator[Record]:
        """Yield the rows of a file."""
        if self.columns is None:
            yield from read_file(file, default="jsonl")
            return
        rows = read_csv(file, self.columns)
        if self.header:
            next(rows, None)
        yield from rows

    def fingerprint(self) -> Json:
        """Return the hashes of the files that are there."""
        paths = {split or "": self._places(split) for split in self.files}
        return {split: file_hash(path) for split, places in paths.items() if (path := _first(places))}

    def _file(self, split: str | None) -> Path:
        places = self._places(split)
        if found := _first(places):
            return found
        looked = " and ".join(map(str, places[:2]))
        raise DataError(f"dataset {self.dataset.abbr!r}: no file {looked}; {remedy(self.source)}")

    def _places(self, split: str | None) -> list[Path]:
        inner = self.files[split].format(name=self.dataset.name, file_name=self.file_name)
        with data_dir(self.source.data_dir):
            return [place / inner if inner else place for place in candidates(self.dataset.path or "")]


def _first(places: Sequence[Path]) -> Path | None:
    return next((place for place in places if place.is_file()), None)
