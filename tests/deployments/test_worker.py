"""Deployments on a real server, run by a real process worker."""

from __future__ import annotations

import json

import pytest

from tests.deployments.support import Site
from tests.fake_openai import FakeOpenAI

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("server")]

ON_DEMAND = {"entrypoint": "flows.evaluate.evaluate", "parameters": {"models": ["fake"], "datasets": ["sums"], "shard_size": 5}}


def test_retry_asks_only_what_is_missing(site: Site, server: FakeOpenAI) -> None:
    site.deploy(**{"on-demand": ON_DEMAND})
    server.script(rules=[{"contains": f"How much is {n} plus", "replies": [{"status": 500}]} for n in (7, 8, 22)])
    with site.worker():
        run = site.finished(site.start("evaluate/on-demand"))
        assert run.state is not None
        assert run.state.name == "Failed"
        assert "3 requests unanswered (3 of 40 in fake:sums)" in str(run.state.message)
        assert str(run.state.message).endswith("Retry asks only these")
        failed = {task.name for task in site.task_runs(run) if task.state.is_failed()}
        assert failed == {"infer sums · fake [2/8]", "infer sums · fake [5/8]"}
        table = next(artifact for artifact in site.artifacts(run) if artifact.key == "failed-rows")
        rows = json.loads(table.data)
        assert [(row["cell"], row["shard"]) for row in rows] == [("fake:sums", shard) for shard in ("2/8", "2/8", "5/8")]
        assert all("500" in row["error"] for row in rows)
        server.heal()
        server.reset()
        site.retry(run)
        again = site.finished(run, attempts=2)
        assert again.state is not None
        assert again.state.name == "Completed"
        assert server.stats["requests"] == 3
        leaderboard = [artifact.data for artifact in site.artifacts(run) if artifact.key == "leaderboard"][-1]
        assert "every request answered" in leaderboard
        assert "*" not in leaderboard
    assert [manifest["state"] for manifest in site.manifests()] == ["incomplete", "completed"]


def test_a_worker_with_a_store_of_its_own_is_found_out(site: Site, server: FakeOpenAI) -> None:
    site.deploy(**{"on-demand": ON_DEMAND})
    with site.worker():
        first = site.finished(site.start("evaluate/on-demand"))
    with site.worker(LEADERFLOW_STORE=str(site.folder / "elsewhere")):
        second = site.finished(site.start("evaluate/on-demand"))
    assert first.state is not None
    assert second.state is not None
    assert (first.state.name, second.state.name) == ("Completed", "Failed")
    assert "is not the one that other workers" in str(second.state.message)
    assert server.stats["requests"] == 40
