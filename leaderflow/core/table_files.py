"""Tables as files (Arrow IPC file format, zstd): written and read batch by batch."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from leaderflow.core import identity
from leaderflow.core.errors import StoreError
from leaderflow.core.streams import recut

BATCH = 10_000
"""Rows of a batch in a file, however they were cut when they came: the same rows give the same bytes."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """A table that was written: its rows, the file's bytes and their SHA-256, the digest of its values."""

    rows: int
    bytes: int
    sha256: str
    digest: str


def write_table(file: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Written:
    """Write a table; a batch at a time is in memory.

    Raises:
        StoreError: a batch of another schema.
    """
    sink, digests, rows = _Hashed(file), list[str](), 0
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(pa.PythonFile(sink, mode="w"), schema, options=options) as writer:
        for batch in recut(checked(batches, schema), BATCH):
            writer.write_batch(batch.take(pa.array(range(batch.num_rows))))  # a slice has slack that would be written, too
            digests.append(identity.table_digest(pa.Table.from_batches([batch])))
            rows += batch.num_rows
    return Written(rows, sink.size, sink.hash.hexdigest(), identity.concat_digests(digests))


def arrow_bytes(table: pa.Table) -> bytes:
    """Return a table as an Arrow file (IPC file format, zstd)."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=10_000)
    return bytes(sink.getvalue())


def checked(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield batches that have a schema.

    Raises:
        StoreError: one has another.
    """
    for batch in batches:
        if not batch.schema.equals(schema):
            raise StoreError(f"a table has another schema: {batch.schema} instead of {schema}")
        yield batch


def sha256_of(file: IO[bytes]) -> str:
    """Return the SHA-256 of what is left of a file."""
    found = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        found.update(chunk)
    return found.hexdigest()


def read_batches(file: IO[bytes], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a table; a batch at a time is in memory, and what other columns hold is not read."""
    source = pa.PythonFile(file, mode="r")
    fields = sorted(pa.ipc.open_file(source).schema.get_field_index(name) for name in columns)
    reader = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(included_fields=fields))
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number).select(list(columns)).replace_schema_metadata(None)


class _Hashed(io.RawIOBase):
    """A file that knows the hash of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.hash, self.size = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.hash.update(data)
        self.file.write(data)
        size = memoryview(data).nbytes
        self.size += size
        return size

    def tell(self) -> int:
        return self.size
