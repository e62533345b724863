"""The flow ``leaderboard``: a named suite over a list of models, added to its history and compared with the last good run."""

from __future__ import annotations

from typing import Any

from prefect import flow, runtime
from prefect.client.schemas.objects import State
from prefect.task_runners import ThreadPoolTaskRunner

from flows import form
from flows.attempt import attempt
from flows.evaluate import some
from flows.missed import superseded
from flows.submit import WORKERS


def run_name() -> str:
    """Name the flow run by its suite and models: ``nightly · smollm2-135m``."""
    parameters = runtime.flow_run.parameters
    models = parameters["models"]
    return f"{parameters['suite']} · {some(models)}" if models else str(parameters["suite"])


@flow(
    name="leaderboard",
    flow_run_name=run_name,
    task_runner=ThreadPoolTaskRunner(max_workers=WORKERS),  # type: ignore[arg-type]
    validate_parameters=False,  # `form.filled` says in one sentence what is wrong
    persist_result=False,
)
async def leaderboard(
    suite: form.Suite,
    models: form.Models = [],  # noqa: B006  a form shows the default; nobody changes it
    range: form.Range = None,
    limit: form.Limit = None,
    repeats: form.Repeats = None,
    concurrency: form.Concurrency = None,
    data_dir: form.DataDir = None,
    max_age: form.MaxAge = None,
    fresh: form.Fresh = False,
    offline: form.Offline = False,
    settings: form.Settings = [],  # noqa: B006
) -> State[Any]:
    """Evaluate a suite's models on its datasets; without models, those of the suite."""
    if late := await superseded():
        return late
    parameters = dict(runtime.flow_run.parameters)
    return await attempt(lambda: form.filled(parameters).evaluation())
