"""Worker processes with a time limit for each item: for functions that may hang or crash on what a model wrote.

A worker that exceeds its limit, or dies, is killed and replaced; its item gets the fallback. Results keep the items' order.
One pool a function serves the whole process, one call at a time, so that cells scored side by side do not crowd the processors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from threading import Lock
from time import monotonic
from typing import Any

from leaderflow.core.errors import LeaderflowError

Item = tuple[Any, ...]
Function = Callable[..., Any]

_START = 60.0
"""Seconds granted for the start of a process and its `warm` call, which count against no item."""


def run_limited(
    function: Function, items: Sequence[Item], *, limit: float, fallback: Any = None, warm: Function | None = None
) -> list[Any]:
    """Return function(*item) for every item, `fallback` where it raised, crashed or ran longer than `limit` seconds.

    Args:
        function: a module-level function; arguments and result are pickled.
        items: its arguments.
        limit: seconds for one item.
        fallback: the result of an item that failed.
        warm: a module-level function that a new worker calls first, such as one that imports what `function` needs.

    Raises:
        LeaderflowError: a worker did not start.
    """
    return _pool(function, warm).run(items, limit, fallback) if items else []


@cache
def _pool(function: Function, warm: Function | None) -> _Pool:
    return _Pool(function, warm)


class _Pool:
    """As many workers as there are processors, started when they are needed and kept."""

    def __init__(self, function: Function, warm: Function | None) -> None:
        self.function, self.warm, self.lock, self.idle = function, warm, Lock(), list[_Worker]()

    def run(self, items: Sequence[Item], limit: float, fallback: Any) -> list[Any]:
        results, todo, busy = [fallback] * len(items), iter(range(len(items))), list[_Worker]()
        with self.lock:
            wanted = min(len(items), len(os.sched_getaffinity(0))) - len(self.idle)
            self.idle += [_Worker(self.function, self.warm) for _ in range(wanted)]
            try:
                while self.idle and self._start(busy, items, todo, limit):
                    pass
                while busy:
                    self._collect(busy, results)
                    while self.idle and self._start(busy, items, todo, limit):
                        pass
            finally:
                for worker in busy:  # only an exception leaves some: their answers belong to nobody
                    worker.stop()
        return results

    def _start(self, busy: list[_Worker], items: Sequence[Item], todo: Iterator[int], limit: float) -> bool:
        position = next(todo, None)
        if position is None:
            return False
        worker = self.idle.pop()
        worker.give(position, items[position], limit)
        busy.append(worker)
        return True

    def _collect(self, busy: list[_Worker], results: list[Any]) -> None:
        """Wait for the next result or the next deadline; a worker that failed is replaced."""
        timeout = max(0.0, min(worker.deadline for worker in busy) - monotonic())
        ready = wait([worker.pipe for worker in busy], timeout=timeout)
        for worker in list(busy):
            if worker.pipe not in ready and monotonic() < worker.deadline:
                continue
            busy.remove(worker)
            if worker.pipe in ready and worker.take(results):
                self.idle.append(worker)
            else:
                worker.stop()
                self.idle.append(_Worker(self.function, self.warm))


class _Worker:
    """One process that answers one item at a time."""

    def __init__(self, function: Function, warm: Function | None) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(function, warm, other), daemon=True)
        self.process.start()
        other.close()
        self.position, self.deadline, self.ready = -1, 0.0, False
        self.name = getattr(function, "__qualname__", repr(function))

    def give(self, position: int, item: Item, limit: float) -> None:
        if not self.ready:
            self._await_start()
        self.position, self.deadline = position, monotonic() + limit
        self.pipe.send(item)

    def _await_start(self) -> None:
        try:
            started = self.pipe.poll(_START)
            if started:
                self.pipe.recv()
        except (EOFError, OSError):
            started = False
        if not started:
            raise LeaderflowError(f"a worker process of {self.name} did not start; run it by itself to see why")
        self.ready = True

    def take(self, results: list[Any]) -> bool:
        """Store the result of the item; False if the process has died."""
        try:
            fine, value = self.pipe.recv()
        except (EOFError, OSError):
            return False
        if fine:
            results[self.position] = value
        return True

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _serve(function: Function, warm: Function | None, pipe: Connection) -> None:
    if warm:
        warm()
    pipe.send(None)
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send((True, function(*item)))
        except Exception as exc:  # the item's fault: told as text, the worker goes on
            pipe.send((False, f"{type(exc).__name__}: {exc}"))
