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

Item = tuple[Any, ...]
Function = Callable[..., Any]

_START = 60.0
"""Seconds granted for the start of a process and the imports of its function, beside the first item's limit."""


def run_limited(function: Function, items: Sequence[Item], *, limit: float, fallback: Any = None) -> list[Any]:
    """Return function(*item) for every item, `fallback` where it raised, crashed or ran longer than `limit` seconds.

    Args:
        function: a module-level function; arguments and result are pickled.
        items: its arguments.
        limit: seconds for one item.
        fallback: the result of an item that failed.
    """
    return _pool(function).run(items, limit, fallback) if items else []


@cache
def _pool(function: Function) -> _Pool:
    return _Pool(function)


class _Pool:
    """As many workers as there are processors, started when they are needed and kept."""

    def __init__(self, function: Function) -> None:
        self.function, self.lock, self.idle = function, Lock(), list[_Worker]()

    def run(self, items: Sequence[Item], limit: float, fallback: Any) -> list[Any]:
        results, todo, busy = [fallback] * len(items), iter(range(len(items))), list[_Worker]()
        with self.lock:
            try:
                for _ in range(min(len(items), len(os.sched_getaffinity(0)))):
                    self._start(busy, items, todo, limit)
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
        worker = self.idle.pop() if self.idle else _Worker(self.function)
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
                self.idle.append(_Worker(self.function))


class _Worker:
    """One process that answers one item at a time."""

    def __init__(self, function: Function) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(function, other), daemon=True)
        self.process.start()
        other.close()
        self.position, self.deadline, self.grace = -1, 0.0, _START

    def give(self, position: int, item: Item, limit: float) -> None:
        self.position, self.deadline, self.grace = position, monotonic() + limit + self.grace, 0.0
        self.pipe.send(item)

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


def _serve(function: Function, pipe: Connection) -> None:
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send((True, function(*item)))
        except Exception as exc:  # the item's fault: told as text, the worker goes on
            pipe.send((False, f"{type(exc).__name__}: {exc}"))
