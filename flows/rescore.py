"""The flow ``rescore``: score a run again with today's evaluators, without one request."""

from __future__ import annotations

from typing import Any

from prefect import flow, runtime
from prefect.client.schemas.objects import State
from prefect.task_runners import ThreadPoolTaskRunner

from flows.attempt import attempt
from flows.plan import make_plan
from flows.progress import Silent
from flows.submit import WORKERS
from leaderflow.core.errors import UsageError
from leaderflow.core.load import load_evaluation
from leaderflow.core.manifest import Manifest
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import EvaluationSpec
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
    return await attempt(lambda: answered(name))


def answered(run: str) -> EvaluationSpec:
    """Return the spec of a run whose every answer is stored.

    Raises:
        UsageError: there is no such run, or it has requests without an answer.
    """
    store = Store(store_uri())
    manifest = Manifest.load(store, run)
    spec = load_evaluation(store.root / "runs" / manifest.run / "manifest.json")
    models = [model.model_copy(update={"max_age": None}) for model in spec.models]
    spec = spec.model_copy(update={"models": models, "fresh": False})
    if missing := make_plan(spec, store, Silent()).to_ask:
        raise UsageError(
            f"{missing} requests of run {manifest.run} have no stored answer; run it again with `evaluate` to ask them"
        )
    return spec
