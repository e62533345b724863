"""The flow ``leaderboard``: a named suite over a list of models, added to its history and compared with the last good run."""

from __future__ import annotations

import asyncio
from typing import Any

from prefect import flow, get_run_logger, runtime
from prefect.artifacts import acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.events import emit_event
from prefect.settings import get_current_settings
from prefect.task_runners import ThreadPoolTaskRunner

from flows import artifacts, changes, form
from flows.attempt import After, attempt
from flows.evaluate import some
from flows.missed import superseded
from flows.result import RunResult
from flows.run import Evaluation
from flows.submit import WORKERS
from leaderflow.core.manifest import Manifest
from leaderflow.core.specs import TaskRunner


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
    models: form.Names = [],  # noqa: B006  a form shows the default; nobody changes it
    range: str = "",
    limit: form.Count = 0,
    repeats: form.Count = 0,
    concurrency: form.Count = 0,
    task_runner: TaskRunner = "threads",
    data_dir: str = "",
    max_age: str = "",
    fresh: bool = False,
    offline: bool = False,
    settings: list[str] = [],  # noqa: B006
    threshold: form.Loss = 0.0,
    truncation: form.Share = 0.1,
) -> State[Any]:
    """Evaluate a suite, add it to its history, and compare it with the last good run.

    Args:
        suite: the leaderboard recipe.
        models: model recipes; none for the suite's own.
        range: samples of every dataset: '[:100]', a count, or a fraction such as 0.1; empty for all.
        limit: only the first N samples of every dataset; 0 for all.
        repeats: ask everything N times; 0 as the recipes say.
        concurrency: requests in flight (API) or rows in a batch, for every model; 0 as the recipes say.
        task_runner: threads of the worker's machine ask the models, or the workers of its Ray cluster (RAY_ADDRESS).
        data_dir: the worker's folder of local data, looked up before any network; empty for its LEADERFLOW_DATA.
        max_age: how long answers of APIs without a revision are reused, such as 20h; empty for ever.
        fresh: ask again although answers are stored.
        offline: open no socket but the model's.
        settings: changes of the spec as KEY=VALUE, such as infer_cfg.inferencer.max_out_len=64.
        threshold: a significant loss of more than this, in the metric's unit, is an alert.
        truncation: a cell with more than this share of cut-off answers is an alert.
    """
    if late := await superseded():
        return late
    parameters = dict(runtime.flow_run.parameters)
    return await attempt(lambda: form.filled(parameters).evaluation(), tell(threshold, truncation))


def tell(threshold: float, truncation: float) -> After:
    """Return what follows the leaderboard: the report of what changed, and an event for each kind of alert."""

    async def after(evaluation: Evaluation, result: RunResult) -> None:
        manifest = evaluation.manifest
        comparison, why = await asyncio.to_thread(changes.compared, evaluation.session.store, manifest)
        found = changes.alerts(result.cells, comparison, threshold, truncation)
        text = changes.report(comparison, why + _link(comparison.left if comparison else None, evaluation), found)
        await acreate_markdown_artifact(text, artifacts.key("changes", manifest.suite), f"What run {manifest.run} changed")
        for alert in found:
            get_run_logger().warning("%s: %s", alert.kind, alert.text)
            emit(manifest, alert)

    return after


def emit(manifest: Manifest, alert: changes.Alert) -> None:
    """Emit ``leaderflow.alert.KIND`` for the suite; automations make a message of it."""
    suite = f"leaderflow.suite.{manifest.suite or 'none'}"
    emit_event(
        f"leaderflow.alert.{alert.kind}",
        resource={"prefect.resource.id": suite, "prefect.resource.name": manifest.suite or "no suite"},
        related=[{"prefect.resource.id": f"prefect.flow-run.{manifest.flow_run}", "prefect.resource.role": "flow-run"}],
        payload={
            "text": alert.text,
            "cells": list(alert.cells),
            "details": alert.details,
            "run": manifest.run,
            "suite": manifest.suite,
        },
    )


def _link(run: str | None, evaluation: Evaluation) -> str:
    """Return a link to the page of an earlier run, where it has one."""
    flow_run = Manifest.load(evaluation.session.store, run).flow_run if run else None
    ui = get_current_settings().ui_url
    return f" [Its page]({ui}/runs/flow-run/{flow_run})" if flow_run and ui else ""
