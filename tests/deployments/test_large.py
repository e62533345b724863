"""Large runs: few task runs, none lost, and a server that answers all the while."""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.api import evaluate
from flows.result import RunResult
from flows.work import MAX_TASK_RUNS
from leaderflow.core.manifest import Manifest
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions
from tests.flows.test_flow import seen

pytestmark = [pytest.mark.slow_prefect, pytest.mark.server, pytest.mark.xdist_group("server"), pytest.mark.timeout(3600)]

ROWS = int(os.environ.get("LEADERFLOW_LARGE_ROWS", "200000"))


class Watch:
    """Asks the server for its flow runs every second, and counts what it answers."""

    def __init__(self, api: str) -> None:
        self.answers: Counter[int] = Counter()
        self._api, self._stop = api, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(1.0):
            body = json.dumps({"limit": 5}).encode()
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{self._api}/flow_runs/filter", data=body, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    self.answers[answer.status] += 1
            except urllib.error.HTTPError as error:
                self.answers[error.code] += 1


def as_flow(api: str, evaluation: EvaluationSpec) -> RunResult:
    with temporary_settings({PREFECT_API_URL: api}):
        return evaluate(evaluation)


def checked(api: str, result: RunResult, store: Path, watch: Watch) -> list[Any]:
    """See that every task run is recorded and final within a minute, and few enough; returns them."""
    flow_run, tasks, _ = seen(api, result.run, store)
    print(f"{len(tasks)} task runs; the server answered {dict(watch.answers)}")
    assert flow_run.state.name == "Completed"
    assert len(tasks) <= MAX_TASK_RUNS
    assert all(task.state.is_final() for task in tasks)
    assert set(watch.answers) == {200}
    return tasks


def test_very_many_samples(prefect_server: str, server: FakeOpenAI, tmp_path: Path) -> None:
    file = write_questions(tmp_path / "sums.jsonl", range(ROWS))
    began = time.monotonic()
    with Watch(prefect_server) as watch:
        result = as_flow(prefect_server, spec([model(server, batch_size=256)], [dataset(file)]))
    print(f"{ROWS} samples in {time.monotonic() - began:.0f} s")
    tasks = checked(prefect_server, result, tmp_path / "store", watch)
    assert len(tasks) == sum(Manifest.load(Store(tmp_path / "store"), result.run).tasks.values())
    assert (result.cells[0].n_scored, result.requests["sent"]) == (ROWS, ROWS)


def test_a_suite_of_fifty_seven(
    prefect_server: str, server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    datasets = []
    for d in range(57):
        file = write_questions(tmp_path / f"d{d}.jsonl", range(30 * d, 30 * d + 30))
        datasets.append(dataset(file, abbr=f"d{d}", group="suite"))
    evaluation = spec([model(server)], datasets)
    with Watch(prefect_server) as watch:
        result = as_flow(prefect_server, evaluation)
    checked(prefect_server, result, tmp_path / "store", watch)
    assert "locked" not in caplog.text
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "other"))
    assert evaluate(evaluation, server=False).cells == result.cells


def test_hundreds_of_cells_share_task_runs(prefect_server: str, server: FakeOpenAI, tmp_path: Path) -> None:
    datasets = []
    for d in range(300):
        file = write_questions(tmp_path / f"d{d}.jsonl", range(5 * d, 5 * d + 5))
        datasets.append(dataset(file, abbr=f"d{d}", group=f"family{d % 3}"))
    with Watch(prefect_server) as watch:
        result = as_flow(prefect_server, spec([model(server)], datasets))
    tasks = checked(prefect_server, result, tmp_path / "store", watch)
    assert any(" cells" in task.name for task in tasks)
    assert result.requests["sent"] == 1500
