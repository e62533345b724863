"""Processes in a box: started with a job, fed and read without ever waiting longer than their limit."""

from __future__ import annotations

import json
import math
import os
import selectors
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from leaderflow.core.sandbox.boxes import Box
from leaderflow.core.sandbox.jobs import Limits

_TAIL = 256
_CHUNK = 1 << 16
_TICK = 0.1
"""Seconds between looks at whether a process that keeps its output open has ended."""


@dataclass
class Capture:
    """What is kept of a stream: its beginning up to the limit, and its last bytes."""

    limit: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytes = b""

    def add(self, data: bytes) -> None:
        """Take more of the stream."""
        self.head += data[: max(0, self.limit - len(self.head))]
        self.tail = (self.tail + data)[-_TAIL:]

    def text(self) -> str:
        """Return the beginning as text."""
        return self.head.decode("utf-8", "replace")


def envelope(box: Box, limits: Limits, job: dict[str, Any], *, packages: bool, reserves: bool = False) -> bytes:
    """Return a job as the scripts in a box read it: eight digits of length, then JSON."""
    memory = {"RLIMIT_DATA" if reserves else "RLIMIT_AS": limits.memory}
    bounds = {
        "RLIMIT_CPU": max(1, math.ceil(limits.seconds)),
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_FSIZE": limits.file_size,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 0,
    }
    whole = {**job, "limits": bounds | memory, "uid": box.uid(), "path": list(box.packages) if packages else []}
    body = json.dumps(whole).encode()
    return b"%08d" % len(body) + body


@contextmanager
def started(box: Box, script: str, limits: Limits, *, stdin: int, stdout: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a script of the box; at the end of the block everything in the box has ended."""
    with TemporaryDirectory(prefix="leaderflow-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            box.command(script, limits),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=box.environment,
            process_group=0,
        )
        try:
            yield process
        finally:
            box.stop(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()


def converse(
    writes: Sequence[tuple[int, bytes]], reads: dict[int, Capture], process: subprocess.Popen[bytes], deadline: float
) -> bool:
    """Write and read until `process` has ended or closed what is read of it; False where the deadline came first.

    Args:
        writes: (descriptor, data), one after the other; each descriptor is closed when its data are written.
        reads: descriptor → where its data go.
        process: whose end ends the conversation.
        deadline: on the monotonic clock.
    """
    todo = list(writes)
    with selectors.DefaultSelector() as selector:
        for descriptor in reads:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        _next(selector, todo)
        try:
            while any(key in reads for key in _open(selector)):
                if monotonic() > deadline:
                    return False
                ended = process.poll() is not None
                ready = selector.select(0 if ended else min(_TICK, max(0.0, deadline - monotonic())))
                if ended and not any(key.fd in reads for key, _ in ready):
                    break
                for key, _ in ready:
                    if key.fd in reads:
                        _read(selector, key.fd, reads[key.fd])
                    else:
                        _write(selector, todo)
        finally:
            for descriptor, _ in todo:
                os.close(descriptor)
    return True


def _open(selector: selectors.BaseSelector) -> list[int]:
    return [key.fd for key in selector.get_map().values()]


def _next(selector: selectors.BaseSelector, todo: list[tuple[int, bytes]]) -> None:
    if todo:
        os.set_blocking(todo[0][0], False)
        selector.register(todo[0][0], selectors.EVENT_WRITE)


def _read(selector: selectors.BaseSelector, descriptor: int, capture: Capture) -> None:
    data = os.read(descriptor, _CHUNK)
    capture.add(data)
    if not data:
        selector.unregister(descriptor)


def _write(selector: selectors.BaseSelector, todo: list[tuple[int, bytes]]) -> None:
    descriptor, data = todo[0]
    try:
        data = data[os.write(descriptor, data) :]
    except BrokenPipeError:
        data = b""
    todo[0] = descriptor, data
    if not data:
        selector.unregister(descriptor)
        os.close(descriptor)
        del todo[0]
        _next(selector, todo)
