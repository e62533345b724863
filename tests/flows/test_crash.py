"""kill -9 at a random moment: what was answered is kept, what was in flight is asked again, and the scores are the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, temporary_settings

from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, expected_accuracy, model, write_questions

pytestmark = [pytest.mark.crash, pytest.mark.xdist_group("server")]

CRASHES = int(os.environ.get("LEADERFLOW_CRASHES", "3"))
SAMPLES, LATENCY, IN_FLIGHT = 1000, 0.2, 64
PER_SECOND = IN_FLIGHT / LATENCY


def command(spec: Path) -> list[str]:
    return [sys.executable, "-m", "leaderflow", "run", str(spec), "--json"]


def start(spec: Path, store: Path, api: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "LEADERFLOW_STORE": str(store), "PREFECT_API_URL": api}
    return subprocess.Popen(command(spec), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    result: dict[str, Any] = json.loads(out)
    return result


def digests(store: Path, run: str) -> dict[str, list[str]]:
    cell = Manifest.load(Store(store), run).cells["fake:sums"]
    return {name: [ref.digest for ref in refs] for name, refs in cell.tables.items()}


@pytest.mark.timeout(200 + 60 * CRASHES)
def test_a_killed_run_costs_only_what_was_in_flight(prefect_server: str, server: FakeOpenAI, tmp_path: Path) -> None:
    server.script(latency=LATENCY)
    file = write_questions(tmp_path / "sums.jsonl", range(SAMPLES))
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"models": [model(server, batch_size=IN_FLIGHT)], "datasets": [dataset(file)], "shard_size": 300}))
    whole = finish(start(spec, tmp_path / "undisturbed", prefect_server))
    assert server.stats["requests"] == SAMPLES
    assert whole["cells"][0]["value"] == pytest.approx(expected_accuracy(SAMPLES))
    expected = digests(tmp_path / "undisturbed", whole["run"])
    for crash in range(CRASHES):
        server.reset()
        store = tmp_path / f"killed-{crash}"
        process = start(spec, store, prefect_server)
        while server.stats["requests"] == 0:
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(random.uniform(0, SAMPLES / PER_SECOND))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert {manifest.state for manifest in Manifest.all(Store(store))} <= {"crashed"}
        seen = server.stats["requests"]
        result = finish(start(spec, store, prefect_server))
        total = server.stats["requests"]
        print(f"killed after {seen} requests: {total} in both runs together")
        assert SAMPLES <= total <= SAMPLES + IN_FLIGHT + PER_SECOND
        assert digests(store, result["run"]) == expected
        assert result["cells"] == whole["cells"]


def state_of(api: str, run: Manifest) -> str:
    with temporary_settings({PREFECT_API_URL: api}), get_client(sync_client=True) as client:
        state = client.read_flow_run(UUID(run.flow_run)).state
    assert state is not None
    return state.name


def test_ctrl_c_twice_leaves_nothing_running(prefect_server: str, server: FakeOpenAI, tmp_path: Path) -> None:
    server.script(latency=60)
    file = write_questions(tmp_path / "sums.jsonl", range(100))
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"models": [model(server)], "datasets": [dataset(file)]}))
    process = start(spec, tmp_path / "store", prefect_server)
    while not server.stats["requests"]:
        assert process.poll() is None
        time.sleep(0.05)
    (running,) = Manifest.all(Store(tmp_path / "store"))
    assert (running.state, state_of(prefect_server, running)) == ("running", "Running")
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    (ended,) = Manifest.all(Store(tmp_path / "store"))
    assert (ended.state, state_of(prefect_server, ended)) == ("failed", "Cancelled")
