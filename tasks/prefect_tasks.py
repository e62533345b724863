"""The Prefect side of the steps: one thin task a stage, which adds the name in the UI, the states and the retries.

The store decides what is a hit, so Prefect's own result cache stays off (`NO_CACHE`): two caches would have to agree, and only the
store knows `--fresh`, `max_age` and damaged files. A hit is shown as the state ``Cached``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.concurrency.sync import concurrency
from prefect.states import Completed, Failed

from leaderflow.core.errors import BackendError
from tasks.infer import InferStep
from tasks.step import Batch, Outcome, perform_all

RETRIES, DELAYS, JITTER = 2, [5, 30], 0.5


def run_batch(batch: Batch) -> State[list[Outcome]]:
    """Perform a batch and give it the state that tells most: Cached, Completed, or Failed with the references in its data."""
    outcomes = perform_all(batch)
    if messages := [outcome.message for outcome in outcomes if outcome.unanswered]:
        more = f" (and {len(messages) - 1} more of {len(outcomes)} cells)" if len(messages) > 1 else ""
        return Failed(message=messages[0] + more, data=outcomes)
    cached = all(outcome.cached for outcome in outcomes)
    return Completed(name="Cached" if cached else "Completed", data=outcomes)


def run_infer(batch: Batch) -> State[list[Outcome]]:
    """Perform a batch while holding a slot of its model's shared limit, if it names one."""
    with _slot(batch):
        return run_batch(batch)


def _slot(batch: Batch) -> AbstractContextManager[None]:
    first = batch.steps[0]
    name = first.model.shared_limit if isinstance(first, InferStep) else None
    if name is None:
        return nullcontext()
    return concurrency(
        name, strict=True, raise_on_lease_renewal_failure=False
    )  # a server that restarts is no reason to stop asking


def may_retry(task: Task[Any, Any], run: Any, state: State[Any]) -> bool:
    """Retry a shard whose engine failed; rows that used up their own attempts, and errors in the spec or the data, are final."""
    failure = state.data
    return isinstance(failure, BackendError) and failure.retryable


def _task(stage: str, run: Callable[[Batch], State[list[Outcome]]], **options: Any) -> Task[[Batch], State[list[Outcome]]]:
    return Task(
        run, name=stage, task_run_name="{batch.label}", cache_policy=NO_CACHE, persist_result=False, log_prints=False, **options
    )


TASKS: Mapping[str, Task[[Batch], State[list[Outcome]]]] = {
    **{stage: _task(stage, run_batch) for stage in ("read", "retrieve", "render", "postprocess", "judge", "score", "summarize")},
    "infer": _task(
        "infer", run_infer, retries=RETRIES, retry_delay_seconds=DELAYS, retry_jitter_factor=JITTER, retry_condition_fn=may_retry
    ),
}
