"""The two ways to run a step: as a Prefect task, or in a plain thread pool. Both retry a shard whose engine failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from leaderflow.core.errors import BackendError
from tasks.step import Batch, Outcome, perform_all

Submit = Callable[[Batch], Awaitable[list[Outcome]]]

WORKERS = 128
"""Threads of a run: more than its models' infer steps (`flows.steps`), so that rendering and scoring never wait for answers."""

ATTEMPTS = 3


def thread_pool(pool: ThreadPoolExecutor) -> Submit:
    """Return a submit that performs batches in `pool`."""

    async def submit(batch: Batch) -> list[Outcome]:
        return await asyncio.get_running_loop().run_in_executor(pool, _with_retries, batch)

    return submit


def prefect_tasks() -> Submit:
    """Return a submit that performs batches as Prefect task runs of the current flow run."""
    from tasks.prefect_tasks import TASKS

    async def submit(batch: Batch) -> list[Outcome]:
        future = TASKS[batch.stage].submit(batch)
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake(_: object) -> None:
            loop.call_soon_threadsafe(done.set)

        future.add_done_callback(wake)
        await done.wait()
        future.wait()  # done by now; without it the state is asked from the API, which holds no data
        outcome = await future.state.aresult(raise_on_failure=False)
        if isinstance(outcome, BaseException):
            raise outcome
        outcomes: list[Outcome] = outcome
        return outcomes

    return submit


def _with_retries(batch: Batch) -> list[Outcome]:
    """Perform a batch as its Prefect task would: infer again while the engine's failure is one that may pass."""
    if batch.stage != "infer":
        return perform_all(batch)
    again = retry_if_exception(lambda exc: isinstance(exc, BackendError) and exc.retryable)
    policy = Retrying(retry=again, stop=stop_after_attempt(ATTEMPTS), wait=wait_random_exponential(5, 30), reraise=True)
    return policy(perform_all, batch)
