"""PostgreSQL goes away, before a run and in the middle of one: the store stays whole, and the same command goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from flows.server import database_down
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tests.deployments.postgres import Postgres, cluster, prefect_on
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, write_questions

pytestmark = [pytest.mark.slow_prefect, pytest.mark.server, pytest.mark.xdist_group("server"), pytest.mark.timeout(600)]

ROWS, IN_FLIGHT = 300, 16


class Place(NamedTuple):
    """A database, the Prefect server on it, and something to run there."""

    database: Postgres
    api: str
    spec: Path

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "leaderflow", "run", str(self.spec), "--json"]
        environment = {**os.environ, "PREFECT_API_URL": self.api}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self) -> tuple[int, str, str]:
        return ended(self.start())

    def restart(self) -> None:
        self.database.start()
        deadline = time.monotonic() + 60
        while database_down(self.api):
            assert time.monotonic() < deadline, "the server does not find its database again"
            time.sleep(0.3)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    assert "Traceback" not in err
    return process.returncode, out, err


@pytest.fixture
def place(tmp_path: Path, server: FakeOpenAI) -> Iterator[Place]:
    (tmp_path / "prefect").mkdir()
    file = write_questions(tmp_path / "sums.jsonl", range(ROWS))
    spec = tmp_path / "spec.json"
    blocks = {"models": [model(server, batch_size=IN_FLIGHT)], "datasets": [dataset(file)], "shard_size": 50}
    spec.write_text(json.dumps(blocks))
    with cluster() as database, prefect_on(database, tmp_path / "prefect") as api:
        yield Place(database, api, spec)


def asked(server: FakeOpenAI, process: subprocess.Popen[str]) -> None:
    while server.stats["requests"] < 3 * IN_FLIGHT:
        assert process.poll() is None
        time.sleep(0.1)


def test_down_at_the_start_is_one_line(place: Place, server: FakeOpenAI, tmp_path: Path) -> None:
    place.database.stop()
    try:
        code, out, err = place.run()
    finally:
        place.restart()
    assert (code, out) == (1, "")
    assert err == f"leaderflow: the Prefect API at {place.api} cannot reach its database; start that, or add --no-server\n"
    assert server.stats["requests"] == 0
    assert not list((tmp_path / "store").rglob("manifest.json"))
    assert place.run()[0] == 0


def test_a_run_outlives_a_restart(place: Place, server: FakeOpenAI) -> None:
    server.script(latency=1.0)
    process = place.start()
    asked(server, process)
    place.database.stop()
    time.sleep(5)
    place.restart()
    code, out, _ = ended(process)
    assert (code, json.loads(out)["state"]) == (0, "completed")
    assert server.stats["requests"] == ROWS


def test_a_database_that_stays_away_costs_the_page_alone(place: Place, server: FakeOpenAI) -> None:
    server.script(latency=0.5)
    process = place.start()
    asked(server, process)
    place.database.stop()
    try:
        code, out, err = ended(process)
    finally:
        place.restart()
    assert (code, json.loads(out)["state"]) == (0, "completed")
    assert err.count("warning: the Prefect API failed in the middle") == 1
    assert place.run()[0] == 0
    assert server.stats["requests"] == ROWS, "the same command asks nothing again"


def test_killed_while_the_database_is_away(place: Place, server: FakeOpenAI, tmp_path: Path) -> None:
    server.script(latency=0.5)
    process = place.start()
    asked(server, process)
    place.database.stop()
    process.kill()
    process.communicate()
    place.restart()
    assert [manifest.state for manifest in Manifest.all(Store(tmp_path / "store"))] == ["crashed"]
    code, out, _ = place.run()
    assert (code, json.loads(out)["state"]) == (0, "completed")
    assert server.stats["requests"] <= ROWS + 3 * IN_FLIGHT
