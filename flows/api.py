"""Run evaluations from Python or the command line: with Prefect by default, without it on request."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from flows.loop import run_to_end
from flows.plan import make_plan
from flows.progress import Progress, Silent
from flows.result import Plan, RunResult
from flows.run import Evaluation
from flows.submit import WORKERS, thread_pool
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store

Watch = Callable[[Evaluation], contextlib.AbstractContextManager[object]]


def evaluate(
    spec: EvaluationSpec, *, server: bool = True, progress: Progress | None = None, watch: Watch = contextlib.nullcontext
) -> RunResult:
    """Run an evaluation.

    Args:
        spec: what to run.
        server: run it as a Prefect flow (the configured API, else a local background server); False walks the same plan in threads.
        progress: hears what happens.
        watch: entered with the evaluation while it runs; whoever gives it may `halt` it.

    Raises:
        UsageError: spec or data are wrong; nothing was asked.
        BackendError: a model cannot be reached, loaded or used.
        StoreError: the store cannot be written.
    """
    evaluation = Evaluation(spec, Store(store_uri()), progress or Silent())
    try:
        evaluation.open()
        with watch(evaluation):
            if server:
                from flows.evaluate import run_as_flow  # Prefect takes a second to import

                return run_as_flow(evaluation)
            with ThreadPoolExecutor(WORKERS, thread_name_prefix="leaderflow") as pool:
                return run_to_end(evaluation.walk(thread_pool(pool)))
    finally:
        evaluation.close()


def plan(spec: EvaluationSpec, *, progress: Progress | None = None) -> Plan:
    """Tell what `evaluate` would do: reads, retrieves and renders in memory, and writes nothing."""
    return make_plan(spec, Store(store_uri()), progress or Silent())
