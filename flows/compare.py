"""The flow ``compare``: two runs, sample by sample, as a report in the UI."""

from __future__ import annotations

import asyncio
from typing import Any

from prefect import flow, runtime
from prefect.artifacts import acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows import changes, form
from flows.attempt import failed
from leaderflow.core.errors import LeaderflowError
from leaderflow.core.paths import store_uri
from leaderflow.core.store import Store
from reports import compare as runs


def run_name() -> str:
    """Name the flow run by what it compares."""
    return "{left} · {right}".format(**runtime.flow_run.parameters)


@flow(name="compare", flow_run_name=run_name, persist_result=False)
async def compare(left: str = "latest~1", right: str = "latest", threshold: form.Loss = 0.0) -> State[Any]:
    """Compare two runs; ends in the state Regression where a cell is significantly worse.

    Args:
        left: the baseline: a run's id, the beginning of one, latest, latest~1, or any of these with :MODEL.
        right: the run to be judged.
        threshold: a loss of more than this, in the metric's unit, is a regression.
    """
    try:
        found = await asyncio.to_thread(runs.compare, Store(store_uri()), left, right, flips=0)
    except LeaderflowError as error:
        return failed(error)
    alerts = changes.alerts([], found, threshold, 1.0)
    text = changes.report(found, f"Run `{found.right}` compared with `{found.left}`.", alerts)
    await acreate_markdown_artifact(text, "comparison", f"{found.left} · {found.right}")
    if alerts:
        return Completed(name="Regression", message=alerts[0].text)
    return Completed(message=f"{len(found.cells)} cells compared, none significantly worse by more than {threshold:g}")
