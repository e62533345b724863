"""One engine thread with a queue: the rows of all shards wait in one place, so that batches fill across shard borders."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from inference.huggingface.weights import first_line
from leaderflow.core.errors import BackendError, LeaderflowError

Rows = list[Any]
Batch = list[Rows]
"""Rows that are computed together, in groups that share a prefix (alone where they share nothing)."""


class Work(Protocol):
    """A kind of computation: how rows are cut into batches, and the computation of one."""

    def plan(self, jobs: Sequence[Job]) -> list[list[list[Job]]]:
        """Return the batches of jobs of one lane, in the order in which they should run."""
        ...

    def run(self, batch: Batch) -> list[Any]:
        """Return a result for each row, group after group."""
        ...

    def shrink(self, batch: Sequence[Sequence[Job]]) -> None:
        """Take note that this batch did not fit into memory."""
        ...


@dataclass(eq=False, slots=True)
class Job:
    """A row that waits: its `lane` names what must be equal within a batch, `tag` is the caller's."""

    kind: str
    lane: str
    row: Any
    tag: Any
    call: Call


@dataclass(eq=False, slots=True)
class Call:
    """One caller that waits for its jobs."""

    done: queue.SimpleQueue[Done | LeaderflowError] = field(default_factory=queue.SimpleQueue)
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """A finished job: its result, or why there is none; `seconds` is the time of its batch."""

    tag: Any
    result: Any
    error: str | None
    seconds: float


class Engine:
    """Runs jobs on one thread.

    Args:
        load: loads the model and returns the works by kind; called on the engine thread before the first job. An error of it ends
            every call, now and later.
    """

    def __init__(self, load: Callable[[], Mapping[str, Work]]) -> None:
        self._load = load
        self._works: Mapping[str, Work] | None = None
        self._inbox: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._batches: deque[list[list[Job]]] = deque()
        self._running: list[list[Job]] = []
        self._arrived: list[Job] = []
        self._replan = False
        self._failure: LeaderflowError | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def run(self, kind: str, rows: Sequence[tuple[str, Any, Any]]) -> Iterator[Done]:
        """Yield finished jobs in the order of completion.

        Args:
            kind: the work.
            rows: (lane, row, tag).

        Raises:
            BackendError: the model cannot be loaded, or the engine has died or was closed.
        """
        call = Call()
        self._submit([Job(kind, lane, row, tag, call) for lane, row, tag in rows])
        try:
            for _ in rows:
                done = call.done.get()
                if isinstance(done, LeaderflowError):
                    raise done
                yield done
        finally:
            call.given_up = True  # nobody reads what is left; the thread skips it

    def close(self) -> None:
        """End the thread after the batch it is at, and drop the model. Calls that still wait end with an error."""
        with self._lock:
            self._closed, thread = True, self._thread
        self._inbox.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._works = None

    def _submit(self, jobs: list[Job]) -> None:
        with self._lock:
            if self._closed:
                raise BackendError("the model has been closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="leaderflow-engine", daemon=True)
                self._thread.start()
            self._inbox.put(jobs)

    def _loop(self) -> None:
        while self._collect():
            try:
                self._step()
            except LeaderflowError as exc:
                self._failure = exc
            except Exception as exc:  # whoever waits must hear of it, whatever it is
                self._failure = BackendError(f"the engine died: {type(exc).__name__}: {first_line(exc)}")
                self._failure.__cause__ = exc
            if self._failure:
                self._refuse_all(self._failure)
        self._refuse_all(BackendError("the model has been closed"))

    def _collect(self) -> bool:
        """Take what has arrived, waiting if there is nothing to do; return False when closed."""
        while True:
            try:
                jobs = self._inbox.get(block=not self._batches and not self._arrived)
            except queue.Empty:
                return True
            if jobs is None:
                return False
            self._arrived += jobs

    def _plan(self) -> None:
        """Cut everything that waits into batches anew."""
        jobs = [job for batch in self._batches for group in batch for job in group] + self._arrived
        self._batches, self._arrived = deque([[jobs]]), []  # whoever waits is found here if planning fails
        if self._works is None:
            self._works = self._load()
        lanes: dict[tuple[str, str], list[Job]] = {}
        for job in jobs:
            lanes.setdefault((job.kind, job.lane), []).append(job)
        self._batches = deque(b for (kind, _), lane in lanes.items() for b in self._works[kind].plan(lane))

    def _step(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._arrived or self._replan:
            self._replan = False
            self._plan()
        if self._batches:
            batch = [[job for job in group if not job.call.given_up] for group in self._batches.popleft()]
            self._running = [group for group in batch if group]
            self._compute(self._running)
            self._running = []

    def _compute(self, batch: list[list[Job]]) -> None:
        """Run a batch; one that does not fit into memory is halved, down to a single row, which then fails alone."""
        if not batch or self._works is None:
            return
        work = self._works[batch[0][0].kind]
        begin = time.perf_counter()
        error, results = _attempt(work, batch)
        if error is not None and (halves := _halves(batch)):
            work.shrink(batch)
            for half in halves:
                self._compute(half)
            self._replan = True
            return
        jobs, seconds = [job for group in batch for job in group], time.perf_counter() - begin
        for job, result in zip(jobs, results or [None] * len(jobs), strict=True):
            job.call.done.put(Done(job.tag, result, error, seconds))

    def _refuse_all(self, error: LeaderflowError) -> None:
        jobs = [job for batch in [*self._batches, self._running] for group in batch for job in group] + self._arrived
        calls = {id(job.call): job.call for job in jobs}
        self._batches, self._running, self._arrived = deque(), [], []
        for call in calls.values():
            call.done.put(error)


def _attempt(work: Work, batch: list[list[Job]]) -> tuple[str | None, list[Any] | None]:
    """Return (error, None) where memory ran out, else (None, results)."""
    try:
        return None, work.run([[job.row for job in group] for group in batch])
    except (MemoryError, RuntimeError) as exc:
        if not _out_of_memory(exc):
            raise
        message = f"out of memory: {first_line(exc)}"
    # Outside the handler, because the exception's frames hold the tensors that are to be freed.
    _free()
    return message, None


def _out_of_memory(exc: BaseException) -> bool:
    import torch

    cpu = "DefaultCPUAllocator" in str(exc) and "memory" in str(exc)
    return isinstance(exc, MemoryError | torch.OutOfMemoryError) or cpu


def _free() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _halves(batch: list[list[Job]]) -> list[list[list[Job]]]:
    """Return the two halves of a batch, by groups or else within its one group; nothing for a single row."""
    if len(batch) > 1:
        return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
    (group,) = batch
    return [[group[: len(group) // 2]], [group[len(group) // 2 :]]] if len(group) > 1 else []
