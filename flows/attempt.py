"""One attempt at an evaluation inside a flow run: walk it, show it in the UI, end in a state that says everything in a sentence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from prefect import get_run_logger, runtime
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.exceptions import ObjectNotFound
from prefect.states import Completed, Failed

from flows import artifacts
from flows.live import LiveArtifacts, shown
from flows.progress import Silent
from flows.result import RunResult
from flows.run import AGAIN, WORDS, Evaluation
from flows.shared_store import check_shared
from flows.submit import prefect_tasks
from leaderflow.core.errors import LeaderflowError, SpecError
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from leaderflow.core.text import shortened

log = logging.getLogger("leaderflow.attempt")

After = Callable[[Evaluation, RunResult], Awaitable[None]]
"""What a flow does once the leaderboard is published."""


async def attempt(load: Callable[[], EvaluationSpec], after: After | None = None) -> State[Any]:
    """Load, open and walk an evaluation; what is wrong with it is the sentence of a Failed state."""
    try:
        spec = await asyncio.to_thread(load)
        store = Store(store_uri())
        await asyncio.to_thread(store.check_writable)
        await check_shared(store)
        evaluation = Evaluation(spec, store, Silent())
        try:
            await asyncio.to_thread(evaluation.open)
            return await walked(evaluation, after)
        finally:
            await asyncio.to_thread(evaluation.close)
    except LeaderflowError as error:
        return failed(error)


def worth_a_line(record: logging.LogRecord) -> bool:
    """Leave out what Prefect says of every task run that went well: a line a stage says the same."""
    return record.levelno >= logging.WARNING


def failed(error: LeaderflowError) -> State[Any]:
    """Return the Failed state that says what was wrong, and nothing of where in the code."""
    return Failed(message=" ".join(str(error).split()))


async def walked(evaluation: Evaluation, after: After | None = None) -> State[Any]:
    """Walk an opened evaluation in the current flow run and publish what it found.

    Raises:
        LeaderflowError: the run cannot go on.
    """
    evaluation.manifest.flow_run = runtime.flow_run.id
    retry = runtime.deployment.id is not None  # asks the server: not in the end, when it may be away
    await check_limits(evaluation.session.spec)
    logging.getLogger("prefect.task_runs").addFilter(worth_a_line)
    live = LiveArtifacts(evaluation.progress)
    evaluation.tally.progress = live
    async with shown(live):
        result = await evaluation.walk(prefect_tasks())
    if retry:  # only runs of deployments have the button
        result = result.model_copy(update={"message": result.message.replace(AGAIN, "Retry asks only these")})
    for line in evaluation.tally.lines():
        get_run_logger().info(line)
    try:
        await live.show()
        await artifacts.publish(evaluation.session.store, evaluation.manifest, result)
        if after is not None:
            await after(evaluation, result)
    except httpx.HTTPError as error:
        log.warning("the Prefect API failed, and this run's page lacks what it found: %s", shortened(str(error), WORDS))
    return Completed(message=result.message) if result.state == "completed" else Failed(message=result.message)


async def check_limits(spec: EvaluationSpec) -> None:
    """See that every shared limit exists: Prefect would not limit anything by a name that it does not know.

    Raises:
        SpecError: one does not.
    """
    async with get_client() as client:
        for model in spec.models:
            if model.shared_limit is None:
                continue
            try:
                await client.read_global_concurrency_limit_by_name(model.shared_limit)
            except ObjectNotFound:
                raise SpecError(
                    f"the Prefect server has no global concurrency limit {model.shared_limit!r}; "
                    f"make it with `prefect global-concurrency-limit create {model.shared_limit} --limit 1`",
                    key=f"models.{model.abbr}.shared_limit",
                ) from None
