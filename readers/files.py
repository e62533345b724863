"""Datasets in files: JSON lines, JSON, CSV, Parquet. The suffix tells the format, whatever the dataset type is called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leaderflow.core.errors import DataError, UsageError
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from readers.columnar import read_parquet
from readers.record import ONLY, Record, Source
from readers.text import read_csv, read_json, read_jsonl

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}


class FileDataset:
    """Base of the file types. `path` is a file, or a folder with one file a split; ``local:`` is looked up in the data folder.

    Args:
        dataset: the dataset's spec.
        source: where to look.
        field: the key of a JSON document that holds the rows.
    """

    format = ""
    """How a file with an unknown suffix is read."""

    def __init__(self, dataset: DatasetSpec, source: Source, field: str | None = None) -> None:
        self.dataset, self.source, self.field = dataset, source, field

    def splits(self) -> Sequence[str | None]:
        """Return the splits that the spec or the folder names."""
        return list(self._files())

    def records(self, split: str | None) -> list[Record]:
        """Return the rows of a split."""
        path = self.local(split)
        if path is None:
            raise self.absent(split)
        return self.read(path)

    def fingerprint(self) -> Json:
        """Return the hashes of the files that are there, by split."""
        files = {split or "": first_file(paths) for split, paths in self._files().items()}
        return {split: file_hash(path) for split, path in files.items() if path}

    def local(self, split: str | None) -> Path | None:
        """Return the file of a split, or None where it is absent."""
        return first_file(self._files().get(split, []))

    def read(self, path: Path) -> list[Record]:
        """Return the rows of a file of this dataset."""
        return list(read_file(path, default=self.format, columns=self.dataset.columns, field=self.field))

    def absent(self, split: str | None) -> DataError:
        """Return the error that says where the file of a split was looked for."""
        looked = " and ".join(map(str, self._files().get(split, []))) or self.dataset.path
        return DataError(f"dataset {self.dataset.abbr!r}: no file {looked}; {remedy(self.source)}")

    def _files(self) -> dict[str | None, list[Path]]:
        """Return for each split the places where its file may lie, best first."""
        return local_files(self.dataset, self.source)


class JsonlDataset(FileDataset):
    """JSON lines: one object a line."""

    format = "jsonl"


class JsonDataset(FileDataset):
    """A JSON document: a list of objects, or the list under one key (`field`)."""

    format = "json"


class CsvDataset(FileDataset):
    """CSV by RFC 4180, every value as text; `columns` names the columns of a file without a header."""

    format = "csv"


class ParquetDataset(FileDataset):
    """A Parquet file."""

    format = "parquet"


def read_file(path: Path, *, default: str = "", columns: Sequence[str] | None = None, field: str | None = None) -> Iterator[Record]:
    """Yield the rows of a file in the format that its suffix names.

    Args:
        path: the file.
        default: the format of a file with an unknown suffix.
        columns: the column names of a CSV file without a header.
        field: the key of a JSON document that holds the rows.

    Raises:
        UsageError: the suffix is unknown and there is no default.
        DataError: the file cannot be read.
    """
    form = SUFFIXES.get(path.suffix.lower(), default)
    match form:
        case "jsonl":
            return read_jsonl(path)
        case "json":
            return read_json(path, field)
        case "csv" | "tsv":
            return read_csv(path, columns, "\t" if form == "tsv" else ",")
        case "parquet":
            return read_parquet(path)
    raise UsageError(f"{path}: cannot tell the format from the suffix; use one of {', '.join(SUFFIXES)}")


def local_files(dataset: DatasetSpec, source: Source) -> dict[str | None, list[Path]]:
    """Return split → places where its file may lie, best first: ``local:`` in the data folder, then `path` on its own."""
    if isinstance(dataset.local, dict):
        return {split: _below(source.data_dir, name, dataset) for split, name in dataset.local.items()}
    if dataset.local is not None:
        return _splits_of(_below(source.data_dir, dataset.local, dataset))
    if dataset.path is None:
        raise UsageError(f"dataset {dataset.abbr!r} needs a `path` or a `local:` file")
    places = [Path(dataset.path).expanduser(), *_below(source.data_dir, dataset.path, dataset)]
    return _splits_of(places)


def first_file(paths: Iterable[Path]) -> Path | None:
    """Return the first path that is a file."""
    return next((path for path in paths if path.is_file()), None)


def _below(data_dir: Path | None, name: str, dataset: DatasetSpec) -> list[Path]:
    """A relative path is looked up in the data folder, then beside the recipe."""
    folders = [data_dir, Path(dataset.source).parent if dataset.source else None]
    return list(dict.fromkeys(folder / name for folder in folders if folder is not None)) or [Path(name)]


def _splits_of(places: list[Path]) -> dict[str | None, list[Path]]:
    """A folder holds one file a split, named by it."""
    folder = next((path for path in places if path.is_dir()), None)
    if folder is None:
        return {ONLY: places}
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    return {path.stem: [path] for path in files}


def file_hash(path: Path) -> Json:
    """Return a file's suffix and SHA-256."""
    with path.open("rb") as file:
        return [path.suffix.lower(), hashlib.file_digest(file, "sha256").hexdigest()]


def remedy(source: Source) -> str:
    """Return what a person can do about an absent file."""
    if source.data_dir is None:
        return "name the folder that holds it with --data-dir (or LEADERFLOW_DATA)"
    return f"put it below {source.data_dir}, or name another folder with --data-dir"
