"""The store: where every stage's tables lie, named by their keys. The store is the truth; Prefect's records are a view.

Layout below the root::

    artifacts/STAGE/KK/KEY.json            the record: key parts, tables, provenance; written last, so it stands for the whole
    artifacts/STAGE/KK/KEY.TABLE.arrow     one table
    answers/MODEL/…                        the answers store (`inference.answers`)
    runs/RUN/manifest.json                 one run (`leaderflow.core.manifest`)
    leases/…                               who is asking for what (`leaderflow.core.leases`)

Files appear whole or not at all, wherever the root lies (`leaderflow.core.files`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from leaderflow.core import identity
from leaderflow.core.artifacts import TABLES, completed
from leaderflow.core.errors import StoreError
from leaderflow.core.files import open_files
from leaderflow.core.table_files import read_batches, sha256_of, write_table
from leaderflow.core.types import Json

log = logging.getLogger("leaderflow.store")

Tabular: TypeAlias = pa.Table | Iterable[pa.RecordBatch]
"""A table, or its batches as they come."""


class ArtifactRef(BaseModel):
    """A reference to one table in the store: what crosses task boundaries instead of rows. `path` is relative to the root."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: str
    key: str
    table: str
    path: str
    rows: int
    bytes: int
    sha256: str
    digest: str


class Record(BaseModel):
    """What a stage left under one key: its tables, what the key is the hash of, and notes that are no part of the identity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: str
    key: str
    parts: dict[str, Any]
    tables: dict[str, ArtifactRef]
    notes: dict[str, Any] = {}

    def __getitem__(self, table: str) -> ArtifactRef:
        return self.tables[table]


class Store:
    """A store: what its files mean. Where they lie is the business of `files`.

    Args:
        place: the root.
    """

    def __init__(self, place: Path | str) -> None:
        self.files = open_files(place)

    def check_writable(self) -> None:
        """Raise StoreError where the store cannot be written."""
        self.files.check_writable()

    def lookup(self, stage: str, key: str) -> Record | None:
        """Return the record under a key if all its tables are there in full size; anything else is a miss, with a warning."""
        name = _record_name(stage, key)
        try:
            record = Record.model_validate_json(self.files.read(name))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            log.warning("record %s is unreadable; it will be recomputed", name)
            return None
        sizes = self.files.sizes(ref.path for ref in record.tables.values())
        for ref in record.tables.values():
            if sizes.get(ref.path) != ref.bytes:
                log.warning("artifact %s is missing or cut; it will be recomputed", ref.path)
                return None
        return record

    def write(
        self,
        stage: str,
        key: str,
        parts: Json,
        tables: Mapping[str, Tabular],
        notes: Mapping[str, Json] | None = None,
        *,
        final: bool = True,
    ) -> Record:
        """Write a stage's tables and return their record.

        Args:
            stage: the stage.
            key: the stage's key (`identity.stage_key`).
            parts: what the key is the hash of (`identity.key_parts`).
            tables: name → table, or its batches as they come, exactly the stage's schemas.
            notes: what is worth keeping beside the tables and changes nothing (such as what an endpoint says of itself).
            final: False for a table with unanswered rows: it is written under a name of its own and no record stands under the key.

        Raises:
            StoreError: another schema, or the store refuses. No record is left then, nor whenever making a batch fails.
        """
        refs = {name: self._write_table(stage, key, name, table, parts, final) for name, table in tables.items()}
        record = Record(stage=stage, key=key, parts=parts, tables=refs, notes=dict(notes or {}))
        if final:
            self.files.write(_record_name(stage, key), record.model_dump_json().encode())
        return record

    def read(self, ref: ArtifactRef) -> pa.Table:
        """Read a table and check its sum.

        Raises:
            StoreError: the file is missing or was altered.
        """
        try:
            data = self.files.read(ref.path)
        except OSError as exc:
            raise StoreError.unreadable(ref.path, exc) from exc
        self.check_sum(ref, hashlib.sha256(data).hexdigest())
        with pa.ipc.open_file(pa.py_buffer(data)) as reader:
            return completed(ref.stage, reader.read_all())

    def check_sum(self, ref: ArtifactRef, found: str) -> None:
        """Compare the checksum of a table that was read.

        Raises:
            StoreError: it was altered; its record is dropped.
        """
        if found != ref.sha256:
            self.forget(ref.stage, ref.key)
            raise StoreError(f"artifact {ref.path} was altered (its checksum differs); run the same command again to recompute it")

    def rows(self, refs: Sequence[ArtifactRef]) -> StoredRows:
        """Return the rows of some tables, one table after the other: read batch by batch when they are needed."""
        return StoredRows(self, refs)

    def intact(self, record: Record) -> bool:
        """Say whether every table of a record still has its checksum; forget the record where one has not."""
        for ref in record.tables.values():
            if not self._has(ref):
                log.warning("artifact %s is missing, cut or altered; it will be recomputed", ref.path)
                self.forget(record.stage, record.key)
                return False
        return True

    def forget(self, stage: str, key: str) -> None:
        """Drop the record under a key: the next run recomputes it."""
        self.files.delete(_record_name(stage, key))

    def find(self, prefix: str) -> Record | None:
        """Return the record whose key starts with `prefix` (at least 6 digits), of any stage, or None.

        Raises:
            StoreError: more than one record does.
        """
        folders = [f"artifacts/{stage}/{prefix[:2]}" for stage in TABLES]
        found = [
            n for folder in folders for n in self.files.names(folder) if n.startswith(f"{folder}/{prefix}") and n.endswith(".json")
        ]
        if len({name.rpartition("/")[2] for name in found}) > 1:
            raise StoreError(f"{prefix!r} names {len(found)} artifacts; give more digits")
        return Record.model_validate_json(self.files.read(found[0])) if found else None

    def lease(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Hold the lease of that name; waits while another process or thread holds it.

        Raises:
            StoreError: the file system refuses.
        """
        return self.files.lease(name)

    def leased(self, name: str) -> bool:
        """Say whether somebody holds the lease of that name at this moment; where it cannot be told, somebody does."""
        return self.files.leased(name)

    def _has(self, ref: ArtifactRef) -> bool:
        """Say whether a table is there with its checksum."""
        try:
            with self.files.reading(ref.path) as file:
                return sha256_of(file) == ref.sha256
        except OSError:
            return False

    def _write_table(self, stage: str, key: str, name: str, table: Tabular, parts: Json, final: bool) -> ArtifactRef:
        schema = TABLES[stage][name]
        if isinstance(table, pa.Table) and not table.schema.equals(schema):
            raise StoreError(f"{stage} gave a table {name!r} of another schema: {table.schema} instead of {schema}")
        suffix = ""
        if not final:
            table = table if isinstance(table, pa.Table) else pa.Table.from_batches(table, schema)
            suffix = f".partial-{hashlib.sha256(identity.table_digest(table).encode()).hexdigest()[:12]}"
        path = f"artifacts/{stage}/{key[:2]}/{key}{suffix}.{name}.arrow"
        provenance = {"leaderflow": json.dumps({"key": key, **parts}, ensure_ascii=False)}
        batches = table.replace_schema_metadata(None).to_batches() if isinstance(table, pa.Table) else table
        with self.files.writing(path) as file:
            found = write_table(file, schema.with_metadata(provenance), batches)
        return ArtifactRef(stage=stage, key=key, table=name, path=path, **asdict(found))


class StoredRows:
    """The rows of some stored tables, which are never in memory whole; their sums are checked when they are first read."""

    def __init__(self, store: Store, refs: Sequence[ArtifactRef]) -> None:
        self.store, self.refs = store, refs
        self._checked: set[str] = set()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the files.

        Raises:
            StoreError: a file is missing or was altered.
        """
        for ref in self.refs:
            try:
                with self.store.files.reading(ref.path) as file:
                    if ref.path not in self._checked:
                        self.store.check_sum(ref, sha256_of(file))
                        self._checked.add(ref.path)
                    yield from read_batches(file, columns)
            except OSError as exc:
                raise StoreError.unreadable(ref.path, exc) from exc


def _record_name(stage: str, key: str) -> str:
    return f"artifacts/{stage}/{key[:2]}/{key}.json"
