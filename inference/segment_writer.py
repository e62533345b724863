"""Writing a segment of the answers store: a file that grows, or on an object store one object a flush."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from inference.segments import SEGMENT, ZSTD, batch_of
from leaderflow.core.errors import StoreError
from leaderflow.core.files import Files, LocalFiles
from leaderflow.core.types import Answer

log = logging.getLogger("leaderflow.answers")

FLUSH_S = 0.5
"""Answers wait this long for the disk; with the write itself a killed process loses less than a second of them."""

OBJECT_FLUSH_S = 30.0
"""Answers wait this long for an object store: every flush is an object, paid for when written and whenever it is read."""

PATIENCE_S = 300.0
"""So long an object store may fail to take answers before no more are asked for; a disk that fails once is not tried again."""

AGAIN_S = 1.0
"""The pause before an object store is tried again when the last answers are written."""


class SegmentWriter:
    """Takes answers for a new segment; safe to use from several threads.

    What was added is on a disk within a second, in an object store within `OBJECT_FLUSH_S`.
    """

    def __init__(self, files: Files, folder: str) -> None:
        name, local = f"{folder}/{new_name()}", isinstance(files, LocalFiles)
        self._out: _Stream | _Objects = _Stream(files.local(f"{name}.arrows")) if local else _Objects(files, name)
        self._every, self._patience = (FLUSH_S, 0.0) if local else (OBJECT_FLUSH_S, PATIENCE_S)
        self._pending: list[tuple[float, Answer]] = []
        self._failure: Exception | None = None
        self._adding, self._writing, self._closed = threading.Lock(), threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._flush_regularly, name="answers-flush", daemon=True)
        self._thread.start()

    def add(self, answer: Answer) -> None:
        """Take an answer to be stored.

        Raises:
            StoreError: an earlier flush failed (disk full).
        """
        self._check()
        with self._adding:
            self._pending.append((time.time(), answer))

    def flush(self) -> None:
        """Write what was added and wait until the store has it.

        Raises:
            StoreError: it could not be written.
        """
        self._try(self._write)

    def close(self) -> None:
        """Flush, end the stream and let go of the file.

        Raises:
            StoreError: something could not be written.
        """
        self._closed.set()
        self._thread.join()
        try:
            self._try(self._write_at_last)
        except StoreError:
            with contextlib.suppress(OSError):  # the first error is the one to be told
                self._out.close()
            raise
        self._try(self._out.close)

    def _write(self) -> None:
        with self._writing:
            with self._adding:
                pending, self._pending = self._pending, []
            if pending:
                try:
                    self._out.append(batch_of([a for _, a in pending], [t for t, _ in pending]))
                except Exception:
                    with self._adding:
                        self._pending = pending + self._pending
                    raise

    def _write_at_last(self) -> None:
        """Write what is left; where that fails, again as often as the patience allows."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._write()
            except StoreError as exc:
                if time.monotonic() >= deadline:
                    raise
                log.warning("%s; trying again for %.0f s at most", exc, deadline - time.monotonic())
                time.sleep(AGAIN_S)

    def _try(self, step: Callable[[], None]) -> None:
        self._check()
        try:
            step()
        except Exception as exc:
            self._failure = exc
            self._check()

    def _check(self) -> None:
        if self._failure is not None:
            said = getattr(self._failure, "strerror", None) or str(self._failure)
            raise StoreError(
                f"cannot store answers in {self._out.place}: {said}; run the same command again when it can"
            ) from self._failure

    def _flush_regularly(self) -> None:
        failing_since = None
        while not self._closed.wait(self._every):
            try:
                self._write()
                failing_since = None
            except Exception as exc:
                failing_since = failing_since or time.monotonic()
                if time.monotonic() - failing_since >= self._patience:
                    self._failure = exc  # told by the next `add` or `close`, in a thread that can act on it
                    return
                log.warning("%s; the answers are kept and stored later", exc)


class _Stream:
    """A segment that grows in place, locked while it does."""

    def __init__(self, path: Path) -> None:
        self.place = path
        hidden = path.with_suffix(".new")  # nobody may see the segment before it is locked, or it could be merged away
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = hidden.open("xb")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            hidden.rename(path)
        except OSError as exc:
            raise StoreError.unwritable(path, exc) from exc
        self._stream = pa.ipc.new_stream(self._file, SEGMENT, options=ZSTD)

    def append(self, batch: pa.RecordBatch) -> None:
        """Write a batch and wait until the disk has it."""
        self._stream.write_batch(batch)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """End the stream and let go of the file."""
        try:
            self._stream.close()
        finally:
            self._file.close()


class _Objects:
    """A segment in an object store: every batch an object."""

    def __init__(self, files: Files, name: str) -> None:
        self.place = f"{files.place}/{name}"
        self._files, self._name, self._written = files, name, 0

    def append(self, batch: pa.RecordBatch) -> None:
        """Put a batch."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, SEGMENT, options=ZSTD) as stream:
            stream.write_batch(batch)
        self._files.write(f"{self._name}-{self._written:05d}.arrows", bytes(sink.getvalue()))
        self._written += 1

    def close(self) -> None:
        """Do nothing: what is put is whole."""


def new_name() -> str:
    """Return a name for a segment that sorts by time."""
    return f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}"
