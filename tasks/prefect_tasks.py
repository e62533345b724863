"""The Prefect side of the steps: one thin task a stage, which adds the name in the UI, the states and the retries.

The store decides what is a hit, so Prefect's own result cache stays off (`NO_CACHE`): two caches would have to agree, and only the
store knows `--fresh`, `max_age` and damaged files. A hit is shown as the state ``Cached``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from leaderflow.core.errors import BackendError
from tasks.step import Outcome, Step, perform

RETRIES, DELAYS, JITTER = 2, [5, 30], 0.5


def run_step(step: Step) -> State[Outcome]:
    """Perform a step and give it the state that tells most: Cached, Completed, or Failed with the reference in its data."""
    outcome = perform(step)
    if outcome.unanswered:
        return Failed(message=outcome.message, data=outcome)
    return Completed(name="Cached" if outcome.cached else "Completed", data=outcome)


def may_retry(task: Task[Any, Any], run: Any, state: State[Any]) -> bool:
    """Retry a shard whose engine failed; rows that used up their own attempts, and errors in the spec or the data, are final."""
    failure = state.data
    return isinstance(failure, BackendError) and failure.retryable


def _task(stage: str, run: Callable[[Step], State[Outcome]], **options: Any) -> Task[[Step], State[Outcome]]:
    return Task(
        run, name=stage, task_run_name="{step.label}", cache_policy=NO_CACHE, persist_result=False, log_prints=False, **options
    )


TASKS: Mapping[str, Task[[Step], State[Outcome]]] = {
    **{stage: _task(stage, run_step) for stage in ("read", "retrieve", "render", "postprocess", "judge", "score", "summarize")},
    "infer": _task(
        "infer", run_step, retries=RETRIES, retry_delay_seconds=DELAYS, retry_jitter_factor=JITTER, retry_condition_fn=may_retry
    ),
}
