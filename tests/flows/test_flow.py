"""The same plan as a Prefect flow, against a real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey, FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import TaskRun
from prefect.client.schemas.sorting import TaskRunSort
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.api import evaluate
from flows.result import RunResult
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("server")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "sums.jsonl", range(40))


def as_flow(api: str, models: dict[str, Any], datasets: dict[str, Any], **scalars: Any) -> RunResult:
    with temporary_settings({PREFECT_API_URL: api}):
        return evaluate(spec([models], [datasets], **scalars))


async def all_task_runs(client: PrefectClient, only: FlowRunFilter) -> AsyncIterator[TaskRun]:
    """Yield a flow run's task runs; the API gives 200 at a time."""
    offset = 0
    while page := await client.read_task_runs(flow_run_filter=only, sort=TaskRunSort.ID_DESC, limit=200, offset=offset):
        for task in page:
            yield task
        offset += len(page)


def seen(api: str, run: str, store: Path) -> tuple[Any, list[Any], list[Any]]:
    """Return the flow run, its task runs once all are recorded, and the leaderboard artifacts."""
    manifest = Manifest.load(Store(store), run)

    async def ask() -> tuple[Any, list[Any], list[Any]]:
        with temporary_settings({PREFECT_API_URL: api}):
            async with get_client() as client:
                assert manifest.flow_run is not None
                flow_run = await client.read_flow_run(manifest.flow_run)  # type: ignore[arg-type]
                only = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run.id]))
                deadline = time.monotonic() + 60
                while True:
                    tasks = list({task.id: task async for task in all_task_runs(client, only)}.values())  # pages shift as runs come
                    done = all(t.state is not None and t.state.is_final() for t in tasks)
                    if (len(tasks) >= sum(manifest.tasks.values()) and done) or time.monotonic() > deadline:
                        break
                    await asyncio.sleep(0.5)
                key = ArtifactFilter(key=ArtifactFilterKey(any_=["leaderboard"]))
                return flow_run, tasks, await client.read_artifacts(artifact_filter=key, flow_run_filter=only)

    return asyncio.run(ask())


def test_the_flow_gives_what_threads_give_and_shows_it_in_the_ui(
    prefect_server: str, server: FakeOpenAI, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = as_flow(prefect_server, model(server), dataset(file), shard_size=15)
    flow_run, tasks, artifacts = seen(prefect_server, flow.run, tmp_path / "store")
    assert (flow_run.name, flow_run.state.name) == ("sums · fake", "Completed")
    names = {task.name for task in tasks}
    assert {"read sums", "infer sums · fake [3/3]", "score sums · fake", "summarize"} <= names
    assert len(tasks) == sum(flow.tasks.values()) == 13
    assert "sums" in artifacts[0].data
    assert str(flow_run.id) in (flow.ui or "")

    one = Manifest.load(Store(tmp_path / "store"), flow.run)
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "other"))
    plain = evaluate(spec([model(server)], [dataset(file)], shard_size=15), server=False)
    other = Manifest.load(Store(tmp_path / "other"), plain.run)
    assert plain.cells == flow.cells
    tables = one.cells["fake:sums"].tables
    assert {name: [r.digest for r in refs] for name, refs in tables.items()} == {
        name: [r.digest for r in refs] for name, refs in other.cells["fake:sums"].tables.items()
    }
    assert {r.key for refs in tables.values() for r in refs} == {
        r.key for refs in other.cells["fake:sums"].tables.values() for r in refs
    }


def test_a_second_run_shows_every_task_as_cached(prefect_server: str, server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    as_flow(prefect_server, model(server), dataset(file))
    again = as_flow(prefect_server, model(server), dataset(file))
    _, tasks, _ = seen(prefect_server, again.run, tmp_path / "store")
    assert {task.state.name for task in tasks} == {"Cached"}
    assert again.tasks == {"cached": len(tasks), "computed": 0, "failed": 0}


def test_unanswered_rows_fail_the_shard_and_the_flow_with_a_sentence(
    prefect_server: str, server: FakeOpenAI, file: Path, tmp_path: Path
) -> None:
    server.always({"status": 500}, contains="How much is 7 plus")
    result = as_flow(prefect_server, model(server, retries=0), dataset(file), shard_size=15)
    assert result.exit_code == 3
    flow_run, tasks, artifacts = seen(prefect_server, result.run, tmp_path / "store")
    assert flow_run.state.name == "Failed"
    assert "1 request unanswered (1 of 40 in fake:sums)" in flow_run.state.message
    failed = {task.name: task.state.message for task in tasks if task.state.is_failed()}
    assert list(failed) == ["infer sums · fake [1/3]"]
    assert "1 of 15 requests unanswered" in failed["infer sums · fake [1/3]"]
    assert artifacts, "the summary is published all the same"


def test_a_dead_prefect_api_is_one_line(server: FakeOpenAI, file: Path) -> None:
    from leaderflow.core.errors import LeaderflowError

    with pytest.raises(LeaderflowError, match=r"the Prefect API at .* does not answer.*--no-server"):
        as_flow("http://127.0.0.1:9/api", model(server), dataset(file))
