"""The read stage: from a dataset's spec to the table of its samples and the table of its pool of examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from leaderflow.core import registry
from leaderflow.core.artifacts import samples_of
from leaderflow.core.errors import DataError, did_you_mean
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.files import first_file, local_files
from readers.ids import sample_ids
from readers.prepare import prepare_code, prepare_function, prepared
from readers.ranges import select
from readers.record import Reader, Record, Source
from readers.splits import Selection, selections

__all__ = ["Source", "absent_files", "fingerprint", "read"]

Sample = tuple[str, Row, str]
"""Sample id, prepared row, place in the source."""


def read(dataset: DatasetSpec, source: Source, *, pool: bool) -> tuple[pa.Table, pa.Table]:
    """Read a dataset.

    Args:
        dataset: the spec; its `reader_cfg` says which splits, which ranges and which columns.
        source: where to look.
        pool: whether the split of examples is read, too.

    Returns:
        The samples and the pool, both `SAMPLES` tables in the order of the selection; the pool is empty if not asked for.

    Raises:
        DataError: the source is absent or wrong, a split or a column is missing, or a range selects no row.
        SpecError: a range or `prepare` is wrong.
    """
    reader = _reader(dataset, source)
    samples, examples = selections(dataset, reader.splits(), pool=pool)
    splits: dict[str | None, list[Sample]] = {}
    for part in filter(None, (samples, examples)):
        if part.split not in splits:
            splits[part.split] = _samples(dataset, reader.records(part.split))
    chosen = [_cut(dataset, splits[part.split], part) if part else [] for part in (samples, examples)]
    return _table(chosen[0]), _table(chosen[1])


def fingerprint(dataset: DatasetSpec, source: Source) -> Json:
    """Return what the source is, as part of the read stage's key: hashes of files, or hub id, name and revision; no paths.

    Raises:
        SpecError: the dataset type or `prepare` cannot be loaded.
    """
    return {
        "source": _reader(dataset, source).fingerprint(),
        "prepare": prepare_code(dataset),
        "columns": dataset.columns,
        "arguments": dataset.arguments,
        "type": dataset.type,
    }


def absent_files(dataset: DatasetSpec, source: Source) -> list[Path]:
    """Return where the files of ``local:`` were looked for and are not, best place first; nothing is opened."""
    if dataset.local is None:
        return []
    return [paths[0] for paths in local_files(dataset, source).values() if paths and not first_file(paths)]


def _reader(dataset: DatasetSpec, source: Source) -> Reader:
    config = {"type": dataset.type, **dataset.arguments}
    reader: Reader = registry.build("dataset", config, key=f"datasets.{dataset.abbr}", dataset=dataset, source=source)
    return reader


def _samples(dataset: DatasetSpec, records: Sequence[Record]) -> list[Sample]:
    ids = sample_ids(records, dataset.reader_cfg.id_column)
    function = prepare_function(dataset)
    rows = (prepared(function, record, dataset) if function else record.row for record in records)
    return [(i, row, record.place) for i, row, record in zip(ids, rows, records, strict=True) if row is not None]


def _cut(dataset: DatasetSpec, samples: list[Sample], part: Selection) -> list[Sample]:
    cfg = dataset.reader_cfg
    for name, wanted in part.ranges:
        key = f"datasets.{dataset.abbr}.reader_cfg.{name}"
        ids = [sample[0] for sample in samples]
        positions = select(ids, wanted, seed=cfg.seed, compat=dataset.compat, key=key)
        if not positions:
            raise DataError(f"{key}: {wanted!r} selects none of the {len(samples)} rows" if samples else _empty(dataset, part))
        samples = [samples[position] for position in positions]
    _check_columns(dataset, samples)
    return samples


def _empty(dataset: DatasetSpec, part: Selection) -> str:
    return f"dataset {dataset.abbr!r}: {f'split {part.split!r}' if part.split else 'the source'} holds no row"


def _check_columns(dataset: DatasetSpec, samples: list[Sample]) -> None:
    cfg = dataset.reader_cfg
    needed = [("input_columns", name) for name in cfg.input_columns]
    needed += [("output_column", cfg.output_column)] if cfg.output_column else []
    needed += [("cluster_column", cfg.cluster_column)] if cfg.cluster_column else []
    for _, row, place in samples:
        for key, name in needed:
            if name not in row:
                have = ", ".join(row)
                raise DataError(f"{place}: no column {name!r} (reader_cfg.{key}); the row has {have}{did_you_mean(name, row)}")


def _table(samples: list[Sample]) -> pa.Table:
    return samples_of((name, row) for name, row, _ in samples)
