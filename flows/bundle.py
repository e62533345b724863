"""Small cells that walk in step: a stage of all of them is one task run, so that a large suite stays under the limit."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar

from flows.work import Work
from tasks.step import Outcome, Step

DoAll = Callable[[Sequence[Step], str], Awaitable[list[Outcome]]]


_CURRENT: ContextVar[Bundle | None] = ContextVar("bundle", default=None)


def current() -> Bundle | None:
    """Return the bundle that the current task walks in."""
    return _CURRENT.get()


class Bundle:
    """Cells of one model and family. Their steps are held back until every cell that still walks has come to one."""

    def __init__(self, cells: Sequence[Work], do_all: DoAll) -> None:
        first = cells[0]
        self.name = f"{first.dataset.group or first.dataset.abbr} · {first.model.abbr} · {len(cells)} cells"
        self._walking = len(cells)
        self._do_all = do_all
        self._waiting: list[tuple[Step, asyncio.Future[Outcome]]] = []
        self._running: set[asyncio.Task[None]] = set()

    async def do(self, step: Step) -> Outcome:
        """Return what came of a cell's step, done with those of the others."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((step, future))
        self._go_on()
        return await future

    @contextlib.contextmanager
    def member(self) -> Iterator[None]:
        """Walk one of the cells in the block: its steps, and those of tasks that it starts, are held back for the others."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)
            self._walking -= 1
            self._go_on()

    def _go_on(self) -> None:
        if not self._waiting or len(self._waiting) < self._walking:
            return
        waiting, self._waiting = self._waiting, []
        for stage in dict.fromkeys(step.stage for step, _ in waiting):
            task = asyncio.create_task(self._do([(step, future) for step, future in waiting if step.stage == stage]))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _do(self, waiting: Sequence[tuple[Step, asyncio.Future[Outcome]]]) -> None:
        steps = [step for step, _ in waiting]
        try:
            outcomes = await self._do_all(steps, f"{steps[0].stage} {self.name}")
        except BaseException as exc:
            for _, future in waiting:
                if not future.done():
                    future.set_exception(exc)
            return
        for (_, future), outcome in zip(waiting, outcomes, strict=True):
            if not future.done():
                future.set_result(outcome)
