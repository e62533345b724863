"""The files of the answers store: append-only Arrow segments.

A writer appends record batches to an IPC *stream* of its own (``ID.arrows``) and holds a lock on it while it lives; on an object
store, where nothing grows, every flush is a stream of its own. Compaction turns streams without a writer into one IPC *file*
(``ID.arrow``), whose batches are read singly. A stream may end in the middle of a batch, because its writer was killed: what is
whole before is read, the rest is left out.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from leaderflow.core.artifacts import filled
from leaderflow.core.types import Answer

log = logging.getLogger("leaderflow.answers")

SEGMENT = pa.schema(
    [
        ("request_key", pa.string()),
        ("stored_at", pa.float64()),
        ("status", pa.string()),
        ("output", pa.string()),
        ("reasoning", pa.string()),
        ("turns", pa.list_(pa.string())),
        ("nll", pa.float64()),
        ("scored_tokens", pa.int64()),
        ("token_logprobs", pa.list_(pa.float64())),
        ("finish_reason", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        ("reasoning_counted", pa.string()),
        ("latency_s", pa.float64()),
        ("attempts", pa.int64()),
        ("error", pa.string()),
        ("error_class", pa.string()),
    ]
)
"""One row an answer; `stored_at` is in seconds since the epoch."""

BATCH_ROWS = 2_000
"""Rows in a batch of a compacted segment: small, because a batch is the least that can be read."""

ZSTD = pa.ipc.IpcWriteOptions(compression="zstd")
_TORN = (pa.ArrowInvalid, OSError, EOFError)


class Segment:
    """One file of answers, its keys in memory, its rows read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size
        batches = list(_batches(path, columns=[0, 1]))
        self.keys = pa.chunked_array([b.column(0) for b in batches], type=pa.string())
        self.stored_at: Any = np.concatenate([np.asarray(b.column(1)) for b in batches] or [np.empty(0)])
        self._starts: Any = np.cumsum([0, *[b.num_rows for b in batches]])

    def rows(self, positions: Sequence[int]) -> Iterator[Answer]:
        """Yield the answers at the positions (ascending), reading only the batches that hold them."""
        number = np.searchsorted(self._starts, positions, side="right") - 1
        wanted: dict[int, list[int]] = {}
        for position, batch in zip(positions, number, strict=True):
            wanted.setdefault(int(batch), []).append(int(position - self._starts[batch]))
        for index, batch in _some_batches(self.path, wanted):
            yield from answers_of(batch.take(pa.array(wanted[index])))


def batch_of(answers: Sequence[Answer], stored_at: Sequence[float]) -> pa.RecordBatch:
    """Return answers as a record batch of a segment."""
    columns = [stored_at if f.name == "stored_at" else [getattr(a, f.name) for a in answers] for f in SEGMENT]
    return pa.record_batch([pa.array(c, type=f.type) for c, f in zip(columns, SEGMENT, strict=True)], schema=SEGMENT)


def answers_of(batch: pa.RecordBatch) -> Iterator[Answer]:
    """Yield the answers of a batch."""
    for row in batch.drop_columns(["stored_at"]).to_pylist():
        for name in ("turns", "token_logprobs"):
            row[name] = None if row[name] is None else tuple(row[name])
        yield Answer(**row)


def is_live(path: Path) -> bool:
    """Say whether some process still writes the segment."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def merge(paths: Iterable[Path], file: IO[bytes]) -> None:
    """Write the whole rows of segments as one segment."""
    with pa.ipc.new_file(file, SEGMENT, options=ZSTD) as writer:
        for path in paths:
            if batches := list(_batches(path)):
                whole = filled(pa.Table.from_batches(batches), SEGMENT)  # an older segment lacks the columns that came later
                writer.write_table(whole.combine_chunks(), max_chunksize=BATCH_ROWS)


def _some_batches(path: Path, numbers: Iterable[int]) -> Iterator[tuple[int, pa.RecordBatch]]:
    numbers = sorted(numbers)
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as file:
            reader = pa.ipc.open_file(file)
            yield from ((number, reader.get_batch(number)) for number in numbers)
    else:
        wanted = set(numbers)
        yield from ((number, batch) for number, batch in enumerate(_batches(path)) if number in wanted)


def _batches(path: Path, columns: list[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the whole batches of a segment; a torn tail ends it, with a warning unless its writer is still at work."""
    options = pa.ipc.IpcReadOptions(included_fields=columns)
    if path.stat().st_size == 0:
        return
    with pa.memory_map(str(path)) as file:
        try:
            if path.suffix == ".arrow":
                reader = pa.ipc.open_file(file, options=options)
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                yield from pa.ipc.open_stream(file, options=options)
        except _TORN:
            if not is_live(path):
                log.warning("the answers segment %s ends in the middle of a batch; its whole batches are used", path.name)
