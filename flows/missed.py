"""Nights that were missed: of several dates that are due at once, only the last one runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from prefect import runtime
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.states import Cancelled

OPEN = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING]


async def superseded() -> State[Any] | None:
    """Return the state in which a scheduled run ends without a request: a later date of its deployment is due, too.

    After days of downtime every missed date is started. Runs that people start are never left out.
    """
    async with get_client() as client:
        run_id = runtime.flow_run.id
        run = await client.read_flow_run(run_id) if run_id else None
        if run is None or run.deployment_id is None or not run.auto_scheduled or run.expected_start_time is None:
            return None
        later = await client.read_flow_runs(flow_run_filter=_due_after(run), limit=1)
    if not later:
        return None
    return Cancelled(
        message=f"skipped: this run was due at {run.expected_start_time:%Y-%m-%d %H:%M} UTC, and a later one is due too"
    )


def _due_after(run: FlowRun) -> FlowRunFilter:
    assert run.deployment_id is not None
    assert run.expected_start_time is not None
    later = run.expected_start_time + timedelta(seconds=1)  # both ends count
    return FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=[run.deployment_id]),
        expected_start_time=FlowRunFilterExpectedStartTime(after_=later, before_=datetime.now(UTC)),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=OPEN)),
    )
