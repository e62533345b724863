"""One evaluation from spec to result, whatever runs the steps."""

from __future__ import annotations

import time
from collections.abc import Callable

import pyarrow as pa

from flows.budget import Budget
from flows.driver import Driver
from flows.plan import make_plan
from flows.progress import Live, Progress, Silent
from flows.result import CellResult, RunResult
from flows.submit import Submit
from flows.tally import Tally
from flows.work import Work, asked_models, plan_cells, with_judges
from leaderflow.core.errors import BackendError, LeaderflowError, SpecError
from leaderflow.core.load import dump_evaluation
from leaderflow.core.manifest import Manifest, State, manifest_name, manifest_place, new_run_id, timestamp
from leaderflow.core.prices import prices_of
from leaderflow.core.specs import EvaluationSpec, ModelSpec, split_cell
from leaderflow.core.store import Store
from leaderflow.core.text import shortened
from leaderflow.core.types import Answer
from reports import history
from tasks.cluster import Cluster
from tasks.retrieve import asks_model
from tasks.session import Session

AGAIN = "run the same command again to ask only these"
"""What to do about requests without an answer."""

WORDS = 200
"""Characters of a provider's message that a sentence quotes."""


class Evaluation:
    """A run in the making: opened (everything checked that needs no data), walked once, closed."""

    def __init__(self, spec: EvaluationSpec, store: Store, progress: Progress) -> None:
        spec = with_judges(spec)
        self.tally = Tally(progress)
        self.session = Session(spec, store, self._heard, self._metered)
        self.gone: Callable[[], None] = lambda: None
        """Called when the run ends at once: whoever shows it elsewhere says so there."""
        self.budget = Budget(spec, prices_of(asked_models(spec)), self.halt)
        self.progress = progress
        self.manifest = Manifest(run=new_run_id(), started=timestamp(), spec=dump_evaluation(spec), suite=spec.suite)
        self.cells: list[Work] = []
        self._began = time.monotonic()

    def open(self) -> None:
        """Check the spec and the store; nothing is read and nothing written.

        Raises:
            UsageError: the spec is wrong.
            BackendError: a model cannot be used.
            StoreError: the store cannot be written.
        """
        self.cells = plan_cells(self.session)
        self.session.store.check_writable()
        if self.session.spec.task_runner == "ray":
            self._join()
        for model in self.session.spec.models:
            self._connect(model, model.abbr)
        for judge in {judge.model.abbr: judge for cell in self.cells for judge in cell.judges}.values():
            self._connect(judge.model)
        if self.session.spec.max_cost is not None or self.session.spec.max_tokens is not None:
            self.progress.line(make_plan(self.session.spec, self.session.store, Silent()).estimate())
        self.progress.watch(lambda: Live(self.session.in_flight(), self.budget.cost))

    def halt(self, reason: str) -> None:
        """Let no new request leave: what is in flight finishes, and the run ends as ``incomplete``."""
        if self.session.halted is None:
            self.progress.line(f"{reason}; no new request leaves, those in flight are finished")
        self.session.halt(reason)

    def abandon(self) -> None:
        """Note in the manifest, and wherever the run is shown, that it ends at once."""
        self._close_manifest("failed")
        self.gone()

    def _heard(self, cell: str, answer: Answer) -> None:
        self.tally.heard(cell, answer)
        model = split_cell(cell)[0]
        if model not in self.session.metered:
            self.budget.heard(model, answer)

    def _metered(self, model: str, answer: Answer) -> None:
        self.budget.heard(model, answer)

    def _join(self) -> None:
        """Join the cluster whose workers will ask the models."""
        for cell in self.cells:
            if cell.local and asks_model(cell.dataset):
                name = cell.dataset.infer_cfg.retriever["type"]
                advice = "name an infer_cfg.embedder, choose another retriever, or set task_runner: threads"
                raise SpecError(f"{name} asks the model, which the cluster's workers hold; {advice}", key=cell.cell)
        self.session.cluster = Cluster(self.session)
        self.session.cluster.place(asked_models(self.session.spec))

    def _connect(self, model: ModelSpec, only: str | None = None) -> None:
        """Reach the model, or do without it where every answer is stored already."""
        try:
            self.session.backend(model).connect()
        except BackendError as error:
            plan = make_plan(self.session.spec, self.session.store, Silent(), only)
            if plan.to_ask or plan.judges_open:
                raise
            self.progress.line(f"{error}; every answer is stored, so the run goes on without it")

    async def walk(self, submit: Submit) -> RunResult:
        """Do everything and return the result; a run that cannot go on leaves the manifest as ``failed``."""
        self.budget.start()
        with self.manifest.lease(self.session.store):
            await self._walk(submit)
        if self.manifest.summary:
            history.append(self.session.store, self.manifest, self.session.store.read(self.manifest.summary))
        return self.result()

    async def _walk(self, submit: Submit) -> None:
        try:
            await Driver(self.session, self.cells, submit, self.manifest, self.tally).walk()
        except BaseExceptionGroup as group:
            failure = first_of(group)
            self._close_manifest("failed")
            raise failure from group
        except BaseException:
            self._close_manifest("failed")
            raise
        failed = sum(cell.counts.get("n_failed", 0) for cell in self.manifest.cells.values())
        self._close_manifest("incomplete" if failed else "completed")

    def close(self) -> None:
        """Free the models."""
        self.budget.stop()
        self.session.close()
        self.progress.finish()

    def result(self) -> RunResult:
        """Return the result of a finished run."""
        manifest = self.manifest
        if manifest.state == "running":
            raise LeaderflowError(f"run {manifest.run} is not finished")
        summary = self.session.store.read(manifest.summary) if manifest.summary else None
        return RunResult(
            run=manifest.run,
            state=manifest.state,
            message=sentence(manifest),
            cells=result_cells(summary) if summary is not None else [],
            tasks=manifest.tasks,
            requests=manifest.requests,
            seconds=manifest.seconds,
            errors=manifest.errors,
            warnings=manifest.warnings,
            cost=manifest.cost,
            manifest=manifest_place(self.session.store, manifest.run),
        )

    def _close_manifest(self, state: State) -> None:
        manifest, tally = self.manifest, self.tally
        started = bool(self.session.store.files.sizes([manifest_name(manifest.run)]))
        manifest.state, manifest.finished = state, timestamp()
        manifest.tasks, manifest.requests, manifest.errors = dict(tally.tasks), tally.requests(), tally.errors()
        manifest.warnings = list(tally.alarms)
        manifest.cost = None if self.budget.cost is None else round(self.budget.cost, 6)
        total = time.monotonic() - self._began
        manifest.seconds = {**{stage: round(s, 3) for stage, s in tally.seconds.items()}, "total": round(total, 3)}
        if started:
            manifest.save(self.session.store)


def result_cells(summary: pa.Table) -> list[CellResult]:
    """Return the rows of a SUMMARY table as the ``cells`` of a result."""
    return [CellResult.model_validate({k: row[k] for k in CellResult.model_fields}) for row in summary.to_pylist()]


def sentence(manifest: Manifest) -> str:
    """Say in one sentence how a run ended, and which rows are missing why."""
    cells = len(manifest.cells)
    if manifest.state == "completed":
        return f"{cells} cell{'s' * (cells != 1)} scored, every request answered"
    if manifest.state == "failed":
        return "the run could not go on"
    per_cell: dict[str, int] = {}
    for error in manifest.errors:
        per_cell[error.cell] = per_cell.get(error.cell, 0) + error.rows
    worst = max(manifest.errors, key=lambda error: error.rows).message if manifest.errors else "unknown"
    missing = ", ".join(f"{rows} of {manifest.cells[cell].counts['n']} in {cell}" for cell, rows in per_cell.items())
    rows = sum(per_cell.values())
    return f"{rows} request{'s' * (rows != 1)} unanswered ({missing}): {shortened(worst, WORDS)}; {AGAIN}"


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception of a group that tells something: one of our own tree before any other."""
    leaves = _leaves(group)
    return next((exc for exc in leaves if isinstance(exc, LeaderflowError)), leaves[0])


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for exc in group.exceptions:
        found.extend(_leaves(exc) if isinstance(exc, BaseExceptionGroup) else [exc])
    return found
