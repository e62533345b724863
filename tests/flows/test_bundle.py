"""A run of very many small cells shares its task runs; nothing else changes."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flows.progress import Silent
from flows.result import RunResult
from flows.run import Evaluation
from flows.submit import Submit, thread_pool
from flows.work import MAX_TASK_RUNS
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from tasks.step import Batch, Outcome
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions

CELLS = 180


def family(folder: Path, server: FakeOpenAI) -> EvaluationSpec:
    """Return cells of two rows each: the first one wrong (see `support.reference`), the second one right."""
    datasets = []
    for i in range(CELLS):
        file = write_questions(folder / f"d{i}.jsonl", [3 * i, 3 * i + 1])
        datasets.append(dataset(file, abbr=f"d{i}", group=f"family{i % 2}"))
    return spec([model(server, retries=0)], datasets)


def walk(evaluation: EvaluationSpec, seen: list[Batch]) -> RunResult:
    run = Evaluation(evaluation, Store(store_uri()), Silent())
    run.open()
    with ThreadPoolExecutor(8) as pool:
        inner = thread_pool(pool)

        async def submit(batch: Batch) -> list[Outcome]:
            seen.append(batch)
            return await inner(batch)

        counted: Submit = submit
        try:
            return asyncio.run(run.walk(counted))
        finally:
            run.close()


def test_cells_share_task_runs_and_score_as_they_would_alone(server: FakeOpenAI, tmp_path: Path) -> None:
    evaluation = family(tmp_path, server)
    server.always({"status": 500}, contains="How much is 31 plus")  # the second row of d10
    seen: list[Batch] = []
    first = walk(evaluation, seen)
    assert server.stats["requests"] == 2 * CELLS
    assert len(seen) < MAX_TASK_RUNS
    assert len(seen) + CELLS * 2 < 6 * CELLS, "a task run a step would be six a cell"
    assert {len({step.stage for step in batch.steps}) for batch in seen} == {1}
    assert any(batch.label.startswith("score family1 · fake · ") for batch in seen)
    values = {cell.dataset: cell.value for cell in first.cells if not cell.group}
    assert values == {f"d{i}": pytest.approx(0.0 if i == 10 else 50.0) for i in range(CELLS)}
    assert [error.cell for error in first.errors] == ["fake:d10"]
    server.heal()
    server.reset()
    seen.clear()
    second = walk(evaluation, seen)
    assert server.stats["requests"] == 1, "only what was missing is asked again"
    assert sum(len(batch.steps) for batch in seen) == 4, "infer, postprocess and score of one cell, and the summary"
    assert second.state == "completed"


def test_an_error_in_one_cell_ends_the_bundle(server: FakeOpenAI, tmp_path: Path) -> None:
    from leaderflow.core.errors import BackendError

    server.always({"status": 401})
    with pytest.raises(BackendError):
        walk(family(tmp_path, server), [])
