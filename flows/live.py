"""Live progress in the Prefect UI: one progress artifact for the run and one a cell, each updated at most every two seconds."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from uuid import UUID

import httpx
from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact

from flows.progress import Count, Live, Progress
from leaderflow.core.types import Answer

EVERY_SECONDS = 2.0

SHOWN_CELLS = 20
"""Beyond so many cells only the run as a whole is shown: every update is a request to the server."""

RUN = "all cells"


class LiveArtifacts:
    """Counts what it hears, and hands it on to another progress."""

    def __init__(self, inner: Progress) -> None:
        self._inner = inner
        self._counts: dict[str, Count] = {}
        self._whole = Count()
        self._changed: set[str] = set()
        self._artifacts: dict[str, UUID] = {}
        self._lock = threading.Lock()

    def line(self, text: str) -> None:
        """Hand on."""
        self._inner.line(text)

    def watch(self, live: Callable[[], Live]) -> None:
        """Hand on."""
        self._inner.watch(live)

    def cell(self, cell: str, total: int, reused: int) -> None:
        """Take in a cell's size."""
        self._inner.cell(cell, total, reused)
        with self._lock:
            count = self._counts.setdefault(cell, Count())
            self._whole.total += total - count.total
            self._whole.reused += reused - count.reused
            count.total, count.reused = total, reused
            self._changed |= {cell, RUN}

    def answered(self, cell: str, answer: Answer) -> None:
        """Count an answer."""
        self._inner.answered(cell, answer)
        with self._lock:
            self._counts.setdefault(cell, Count()).add(answer)
            self._whole.add(answer)
            self._changed |= {cell, RUN}

    def finish(self) -> None:
        """Hand on."""
        self._inner.finish()

    async def show(self) -> None:
        """Create or update the artifacts of what has changed.

        Raises:
            HTTPError: the server does not take them; they are tried again with the next ones.
        """
        try:
            await self._show()
        except httpx.HTTPError:
            with self._lock:
                self._changed |= {RUN, *self._counts}
            raise

    async def _show(self) -> None:
        for name, percent, text in self._news():
            if name in self._artifacts:
                await aupdate_progress_artifact(self._artifacts[name], progress=percent, description=text)
            else:
                self._artifacts[name] = await acreate_progress_artifact(percent, description=text)

    def _news(self) -> list[tuple[str, float, str]]:
        with self._lock:
            many = len(self._counts) > SHOWN_CELLS
            names = [name for name in self._changed if name == RUN or not many]
            self._changed.clear()
            counts = {name: self._whole if name == RUN else self._counts[name] for name in names}
            return [(name, _percent(count), f"{name}: {count.describe()}") for name, count in counts.items()]


def _percent(count: Count) -> float:
    return 100.0 * min(1.0, count.done / count.total) if count.total else 0.0


@contextlib.asynccontextmanager
async def shown(live: LiveArtifacts) -> AsyncIterator[None]:
    """Keep the artifacts up to date while the block runs, as far as the server takes them."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            with contextlib.suppress(httpx.HTTPError):  # a server that is away for a while must end no run
                await live.show()

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
