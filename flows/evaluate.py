"""The flow ``evaluate``: one flow run is one evaluation."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from prefect import flow, runtime
from prefect.client.schemas.objects import State
from prefect.logging.handlers import PrefectConsoleHandler
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings
from prefect.states import Completed, Failed
from prefect.task_runners import ThreadPoolTaskRunner

from flows import artifacts, server
from flows.result import RunResult
from flows.run import Evaluation
from flows.submit import WORKERS, prefect_tasks
from leaderflow.core.errors import LeaderflowError

_EVALUATION: ContextVar[Evaluation] = ContextVar("evaluation")
"""The evaluation that the current flow run walks: open resources are no flow parameters."""


def run_name() -> str:
    """Name the flow run by what it evaluates: ``gsm8k, arc_c · smollm2-135m``."""
    parameters = runtime.flow_run.parameters
    return f"{_some(parameters['datasets'])} · {_some(parameters['models'])}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" +{len(names) - 3}" if len(names) > 3 else "")


@flow(
    name="evaluate",
    flow_run_name=run_name,
    task_runner=ThreadPoolTaskRunner(max_workers=WORKERS),  # type: ignore[arg-type]
    validate_parameters=False,
    persist_result=False,
)
async def evaluate(models: list[str], datasets: list[str], spec: dict[str, Any]) -> State[Any]:
    """Evaluate models on datasets.

    Args:
        models: the models' names.
        datasets: the datasets' names.
        spec: the effective spec.
    """
    evaluation = _EVALUATION.get()
    evaluation.manifest.flow_run = runtime.flow_run.id
    result = await evaluation.walk(prefect_tasks())
    await artifacts.publish(evaluation.manifest, result)
    if result.state == "completed":
        return Completed(message=result.message)
    return Failed(message=result.message)


def run_as_flow(evaluation: Evaluation) -> RunResult:
    """Walk an evaluation as a flow run of the configured Prefect API, or of the local server.

    Raises:
        LeaderflowError: whatever ended the run before its result.
    """
    with _api(evaluation) as ui:
        evaluation.progress.line(f"Prefect UI: {ui}")
        _quiet_console()
        token = _EVALUATION.set(evaluation)
        try:
            state: State[Any] = asyncio.run(_awaited(evaluation))
        finally:
            _EVALUATION.reset(token)
    if evaluation.manifest.state in {"running", "failed"}:
        raise _cause(state)
    result = evaluation.result()
    return result.model_copy(update={"ui": f"{ui}/runs/flow-run/{evaluation.manifest.flow_run}"})


def _quiet_console() -> None:
    """Keep Prefect's own lines off the terminal, where the progress is; the UI has them all."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, PrefectConsoleHandler):
            handler.addFilter(_worth_a_line)  # a level would be reset by Prefect's next look at its settings


def _worth_a_line(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


async def _awaited(evaluation: Evaluation) -> State[Any]:
    spec = evaluation.session.spec
    names = [m.abbr for m in spec.models], [d.abbr for d in spec.datasets]
    return await evaluate(*names, evaluation.manifest.spec, return_state=True)


def _cause(state: State[Any]) -> BaseException:
    cause = state.result(raise_on_failure=False)
    return cause if isinstance(cause, BaseException) else LeaderflowError(state.message or "the flow run ended without a result")


@contextlib.contextmanager
def _api(evaluation: Evaluation) -> Iterator[str]:
    """Use the configured Prefect API, else the local server; yields the UI's address."""
    settings = get_current_settings()
    if configured := settings.api.url:
        if not server.healthy(configured, timeout=10):
            raise LeaderflowError(
                f"the Prefect API at {configured} does not answer; start it, unset PREFECT_API_URL, or add --no-server"
            )
        yield settings.ui_url or configured.removesuffix("/api")
        return
    if server.status() is None:
        evaluation.progress.line("starting the local Prefect server; it stays for further runs (`leaderflow server stop` ends it)")
    local = server.start()
    with temporary_settings({PREFECT_API_URL: local.api}):
        yield local.ui
