"""The answers store: every answer ever paid for, by model identity and request key.

It is the one mechanism behind resume, incremental ranges, more repeats, added rows, other shard sizes and retry. In the store each
model identity has a folder ``answers/NAME-HASH/`` of append-only segments (`inference.segments`). Answers with the status
``error`` never enter; of two answers to one request the later one counts.
"""

from __future__ import annotations

import contextlib
import logging
import math
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from inference.segment_writer import SegmentWriter, new_name
from inference.segments import Segment, is_live, merge
from leaderflow.core.errors import SpecError
from leaderflow.core.identity import sha256_hex
from leaderflow.core.store import Store
from leaderflow.core.types import Answer

log = logging.getLogger("leaderflow.answers")

COMPACT_ABOVE = 64
"""Sealed segments of one level (streams, merged files) that a model's folder may hold before they are merged."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class AnswerStore:
    """The answers of one model.

    Args:
        store: where they are kept, or its root.
        identity: the model's identity (`Backend.identity`).
        max_age: seconds after which an answer is no longer seen; None for ever.
    """

    def __init__(self, store: Store | Path | str, identity: str, max_age: float | None = None) -> None:
        self.identity, self.max_age, self.opened_at = identity, max_age, time.time()
        self.name = folder_name(identity)
        self.folder = f"answers/{self.name}"
        self._files = (store if isinstance(store, Store) else Store(store)).files
        self._segments: dict[Path, Segment] = {}
        self._lock = threading.Lock()

    def get(self, keys: Iterable[str], *, since: float | None = None) -> dict[str, Answer]:
        """Return the stored answers to the keys.

        Args:
            keys: request keys.
            since: only answers stored at this time (seconds since the epoch) or later; none whose time is still to come, because
                a clock that was put back stored it before.
        """
        newest = math.inf if since is None else time.time()
        oldest = max(since or 0.0, time.time() - self.max_age if self.max_age else 0.0)
        wanted = pa.array(dict.fromkeys(keys), type=pa.string())
        while True:
            try:
                with self._lock:
                    self._refresh()
                    return self._find(wanted, oldest, newest)
            except FileNotFoundError:  # another process has just merged a segment into a new one
                continue

    @contextlib.contextmanager
    def writer(self) -> Iterator[AnswerWriter]:
        """Open a segment for new answers; they reach the store as `SegmentWriter` says, and all of them when the block is left."""
        self._name_folder()
        segment = SegmentWriter(self._files, self.folder)
        try:
            yield AnswerWriter(segment)
        finally:
            segment.close()
        self.compact()

    def lease(self, keys: Iterable[str]) -> contextlib.AbstractContextManager[None]:
        """Hold the right to ask these requests, so that two runs do not both pay for one; waits while another has it."""
        return self._files.lease(self.name, keys)

    def compact(self, above: int = COMPACT_ABOVE) -> None:
        """Merge the segments of a level that nobody writes, if there are more than `above`; a reader notices nothing."""
        for suffix in (".arrows", ".arrow"):
            sealed = [path for path in self._paths() if path.suffix == suffix]
            sealed = [path for path in sealed if not is_live(path)] if len(sealed) > above else []
            if len(sealed) > above:
                self._merge(sealed)

    def _merge(self, sealed: Sequence[Path]) -> None:
        with self._files.lease(f"compact-{self.name}"):
            sealed = sorted(set(sealed) & set(self._paths()))  # another process may just have merged some
            if len(sealed) > 1:
                with self._files.writing(f"{self.folder}/{new_name()}.arrow") as file:
                    merge(sealed, file)
                for path in sealed:
                    self._files.delete(f"{self.folder}/{path.name}")

    def _paths(self) -> list[Path]:
        return [path for path in self._files.mirror(self.folder) if path.suffix in (".arrows", ".arrow")]

    def _refresh(self) -> None:
        """Read the keys of new and of grown segments, forget those that were merged away."""
        paths = self._paths()
        self._segments = {path: segment for path, segment in self._segments.items() if path in set(paths)}
        for path in paths:
            known = self._segments.get(path)
            if known is None or known.size != path.stat().st_size:
                self._segments[path] = Segment(path)

    def _find(self, wanted: pa.Array, oldest: float, newest: float) -> dict[str, Answer]:
        latest: dict[int, tuple[float, Path, int]] = {}
        for path, segment in self._segments.items():
            hits = pc.index_in(segment.keys, value_set=wanted).to_numpy()
            for row in (hits == hits).nonzero()[0]:  # NaN stands for a key nobody asked for
                when = float(segment.stored_at[row])
                if oldest <= when <= newest and when >= latest.get(int(hits[row]), (0.0, path, 0))[0]:
                    latest[int(hits[row])] = (when, path, int(row))
        places: dict[Path, list[int]] = {}
        for _, path, row in latest.values():
            places.setdefault(path, []).append(row)
        found = (a for path, rows in places.items() for a in self._segments[path].rows(sorted(rows)))
        return {answer.request_key: answer for answer in found}

    def _name_folder(self) -> None:
        note = f"{self.folder}/identity.txt"
        if not self._files.sizes([note]):
            self._files.write(note, self.identity.encode())


class AnswerWriter:
    """What `AnswerStore.writer` hands out; safe to use from several threads."""

    def __init__(self, segment: SegmentWriter) -> None:
        self._segment = segment

    def add(self, answer: Answer) -> None:
        """Store an answer; one with the status ``error`` is left out, because it must be asked again."""
        if answer.status != "error":
            self._segment.add(answer)

    def flush(self) -> None:
        """Wait until the store has every answer added so far."""
        self._segment.flush()


def folder_name(identity: str) -> str:
    """Return the folder of a model identity: readable, and distinct by a hash."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", identity).strip("-.")[:48]
    return f"{words}-{sha256_hex(identity)[:16]}"


def seconds(age: str, key: str = "max_age") -> float:
    """Return the seconds of a time such as ``20h``, ``7d`` or ``90``.

    Raises:
        SpecError: not a number with one of the units s, m, h, d, w.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw]?)\s*", age)
    if match is None:
        raise SpecError(f"{age!r} is no time; write a number and a unit, such as 20h (units: {', '.join(_UNITS)})", key=key)
    return float(match[1]) * _UNITS[match[2] or "s"]
