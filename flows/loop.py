"""Running a coroutine to its end, whoever asks."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns; where a loop runs in this thread (a notebook, an async flow), in a thread beside it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def noted() -> T:
        if task := asyncio.current_task():
            begun.append((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="leaderflow-loop") as beside:
        done = beside.submit(contextvars.copy_context().run, asyncio.run, noted())
        try:
            return done.result()
        except KeyboardInterrupt:
            for loop, task in begun:
                with contextlib.suppress(RuntimeError):  # it has just ended
                    loop.call_soon_threadsafe(task.cancel)
            raise
