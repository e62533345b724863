"""A coroutine is run to its end with and without a loop around it, as in a notebook or an async flow."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
from pathlib import Path

import pytest

from flows.loop import run_to_end
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, expected_accuracy, model, run, write_questions

NAME = contextvars.ContextVar("NAME", default="nobody")


def test_an_evaluation_inside_a_running_loop(server: FakeOpenAI, tmp_path: Path) -> None:
    file = write_questions(tmp_path / "sums.jsonl", range(6))

    async def cell() -> None:
        result = run(model(server), dataset(file))
        assert (result.state, result.cells[0].value) == ("completed", pytest.approx(expected_accuracy(6)))

    asyncio.run(cell())


@pytest.mark.parametrize("around", [False, True])
def test_context_and_errors_pass(around: bool) -> None:
    async def work(fails: bool) -> str:
        await asyncio.sleep(0)
        if fails:
            raise ValueError("no")
        return NAME.get()

    async def outer() -> None:
        both()

    def both() -> None:
        NAME.set("ann")
        assert run_to_end(work(False)) == "ann"
        with pytest.raises(ValueError, match="no"):
            run_to_end(work(True))

    asyncio.run(outer()) if around else both()


def test_an_interrupt_ends_what_runs_beside() -> None:
    ended = []

    async def endless() -> None:
        threading.Timer(0.2, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def outer() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a notebook has it
        run_to_end(endless())

    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(outer())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [True]
