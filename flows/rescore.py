"""The flow ``rescore``: score a run again with today's evaluators, without one request."""

from __future__ import annotations

from typing import Any

from prefect import flow, runtime
from prefect.client.schemas.objects import State
from prefect.task_runners import ThreadPoolTaskRunner

from flows.answered import answered
from flows.attempt import attempt
from flows.submit import WORKERS
from leaderflow.core.paths import store_uri
from leaderflow.core.store import Store


def run_name() -> str:
    """Name the flow run by the run that it scores."""
    return f"rescore {runtime.flow_run.parameters['run']}"


@flow(
    name="rescore",
    flow_run_name=run_name,
    task_runner=ThreadPoolTaskRunner(max_workers=WORKERS),  # type: ignore[arg-type]
    validate_parameters=False,
    persist_result=False,
)
async def rescore(run: str = "latest") -> State[Any]:
    """Score the stored answers of a run with the evaluators as they are now; no model is asked.

    Args:
        run: a run's id, the beginning of one, or latest.
    """
    name = str(run)
    return await attempt(lambda: answered(Store(store_uri()), name))
