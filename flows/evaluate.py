"""The flow ``evaluate``: one flow run is one evaluation, started by the command line, a form or a schedule."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import prefect
from prefect import flow, runtime
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.logging.handlers import PrefectConsoleHandler
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_CLIENT_RETRY_EXTRA_CODES,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    get_current_settings,
    temporary_settings,
)
from prefect.states import Cancelled, Failed
from prefect.task_runners import ThreadPoolTaskRunner

from flows import form, server
from flows.attempt import attempt, walked, worth_a_line
from flows.loop import run_to_end
from flows.result import RunResult
from flows.run import WORDS, Evaluation
from flows.submit import WORKERS
from leaderflow.core.errors import LeaderflowError
from leaderflow.core.specs import TaskRunner
from leaderflow.core.text import shortened

_EVALUATION: ContextVar[Evaluation | None] = ContextVar("evaluation", default=None)
"""The evaluation that the command line has opened: open resources are no flow parameters."""

SETTINGS = {
    PREFECT_CLIENT_RETRY_EXTRA_CODES: "500",  # what a server answers while its database restarts
    PREFECT_CLIENT_MAX_RETRIES: 3,  # some 14 s a request: somebody waits
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY: 60,  # a team's server takes a run for crashed after 180 s, which is Prefect's own default
}
"""Of Prefect, for runs of the command line."""


def run_name() -> str:
    """Name the flow run by what it evaluates: ``gsm8k, arc_c · smollm2-135m``."""
    parameters = runtime.flow_run.parameters
    return f"{some(parameters['datasets'])} · {some(parameters['models'])}"


def some(names: Any) -> str:
    """Return the first names of a list, and how many more there are."""
    texts = [str(name) for name in names] if isinstance(names, list) else [str(names)]
    return ", ".join(texts[:3]) + (f" +{len(texts) - 3}" if len(texts) > 3 else "")


@flow(
    name="evaluate",
    flow_run_name=run_name,
    task_runner=ThreadPoolTaskRunner(max_workers=WORKERS),  # type: ignore[arg-type]
    validate_parameters=False,  # `form.filled` says in one sentence what is wrong
    persist_result=False,
)
async def evaluate(
    models: form.Names,
    datasets: form.Names,
    range: str = "",
    limit: form.Count = 0,
    repeats: form.Count = 0,
    concurrency: form.Count = 0,
    shard_size: form.Count = 0,
    task_runner: TaskRunner = "threads",
    data_dir: str = "",
    max_age: str = "",
    fresh: bool = False,
    offline: bool = False,
    settings: list[str] = [],  # noqa: B006  a form shows the default; nobody changes it
    spec: form.Spec = {},  # noqa: B006
) -> State[Any]:
    """Evaluate models on datasets and publish the leaderboard.

    Args:
        models: model recipes, such as smollm2-135m.
        datasets: dataset recipes or families, such as gsm8k or mmlu_gen.
        range: samples of every dataset: '[:100]', a count, or a fraction such as 0.1; empty for all.
        limit: only the first N samples of every dataset; 0 for all.
        repeats: ask everything N times; 0 as the recipes say.
        concurrency: requests in flight (API) or rows in a batch, for every model; 0 as the recipes say.
        shard_size: samples in a shard; changes no result; 0 for 500.
        task_runner: threads of the worker's machine ask the models, or the workers of its Ray cluster (RAY_ADDRESS).
        data_dir: the worker's folder of local data, looked up before any network; empty for its LEADERFLOW_DATA.
        max_age: how long answers of APIs without a revision are reused, such as 20h; empty for ever.
        fresh: ask again although answers are stored.
        offline: open no socket but the model's.
        settings: changes of the spec as KEY=VALUE, such as infer_cfg.inferencer.max_out_len=64.
        spec: further keys of an evaluation's file.
    """
    opened = _EVALUATION.get()
    if opened is not None:
        return await walked(opened)
    parameters = dict(runtime.flow_run.parameters)
    return await attempt(lambda: form.filled(parameters).evaluation())


def run_as_flow(evaluation: Evaluation) -> RunResult:
    """Walk an evaluation as a flow run of the configured Prefect API, or of the local server.

    Raises:
        LeaderflowError: whatever ended the run before its result.
    """
    with prefect_api(evaluation.progress.line) as ui, temporary_settings(SETTINGS):
        evaluation.progress.line(f"Prefect UI: {ui}")
        _quiet_console()
        evaluation.gone = partial(_cancel, evaluation, str(get_current_settings().api.url))
        token = _EVALUATION.set(evaluation)
        try:
            state: State[Any] = run_to_end(_awaited(evaluation))
        except httpx.HTTPError as error:
            state = Failed(message=f"the Prefect API failed in the middle: {shortened(str(error), WORDS)}")
            evaluation.progress.line(f"warning: {state.message}; the run's page there stays as it was then")
        finally:
            _EVALUATION.reset(token)
    if evaluation.manifest.state in {"running", "failed"}:
        raise _cause(state)
    result = evaluation.result()
    return result.model_copy(update={"ui": f"{ui}/runs/flow-run/{evaluation.manifest.flow_run}"})


def _cancel(evaluation: Evaluation, api: str) -> None:
    """Tell the API that a run ends at once: without this it would be shown as running for ever."""
    if evaluation.manifest.flow_run is None:
        return
    state: State[Any] = Cancelled(message="interrupted: stopped at once; run the same command again to go on")
    with (
        contextlib.suppress(Exception),  # the process ends in any case, and its terminal is no place for a trace
        temporary_settings({PREFECT_API_URL: api}),
        get_client(sync_client=True) as client,
    ):
        client.set_flow_run_state(UUID(evaluation.manifest.flow_run), state, force=True)


def _quiet_console() -> None:
    """Keep Prefect's own lines off the terminal, where the progress is; the UI has them all, and how a run ends is ours to say."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, PrefectConsoleHandler):
            handler.addFilter(_ours)  # a level would be reset by Prefect's next look at its settings
    logging.raiseExceptions = False  # Prefect asks this before it prints that log lines did not reach the API


def _ours(record: logging.LogRecord) -> bool:
    return worth_a_line(record) and record.name != "prefect.flow_runs"


async def _awaited(evaluation: Evaluation) -> State[Any]:
    spec = evaluation.session.spec
    names = [m.abbr for m in spec.models], [d.abbr for d in spec.datasets]
    return await evaluate(*names, spec=evaluation.manifest.spec, return_state=True)


def _cause(state: State[Any]) -> BaseException:
    cause = state.result(raise_on_failure=False) if state.data is not None else None
    return cause if isinstance(cause, BaseException) else LeaderflowError(state.message or "the flow run ended without a result")


def check_api(api: str) -> None:
    """See that a configured Prefect API can be used.

    Raises:
        LeaderflowError: it does not answer, its database does not, or it is of another version.
    """
    if not server.healthy(api, timeout=10):
        raise LeaderflowError(f"the Prefect API at {api} does not answer; start it, unset PREFECT_API_URL, or add --no-server")
    if server.database_down(api):
        raise LeaderflowError(f"the Prefect API at {api} cannot reach its database; start that, or add --no-server")
    with get_client(sync_client=True) as client:
        there, here = client.api_version(), prefect.__version__
    if there.split(".")[:2] != here.split(".")[:2]:
        raise LeaderflowError(f"the Prefect API at {api} is {there}, and this client is {here}: install the same version on both")


@contextlib.contextmanager
def prefect_api(tell: Callable[[str], None] = print) -> Iterator[str]:
    """Use the configured Prefect API, else the local server; yields the UI's address.

    Args:
        tell: hears that a server is being started, which takes some seconds.

    Raises:
        LeaderflowError: the configured API cannot be used.
    """
    settings = get_current_settings()
    if configured := settings.api.url:
        check_api(configured)
        yield settings.ui_url or configured.removesuffix("/api")
        return
    if server.status() is None:
        tell("starting the local Prefect server; it stays for further runs (`leaderflow server stop` ends it)")
    local = server.start()
    with temporary_settings({PREFECT_API_URL: local.api}):
        yield local.ui
