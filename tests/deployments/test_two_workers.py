"""Two process workers on one work pool and one store: what they find is what one machine finds, and nothing is asked twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.api import evaluate
from leaderflow.core.load import build_evaluation
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tests.deployments.support import Site
from tests.fake_openai import FakeOpenAI

pytestmark = [pytest.mark.slow_prefect, pytest.mark.server, pytest.mark.xdist_group("server")]

ON_DEMAND = {"entrypoint": "flows.evaluate.evaluate", "parameters": {"models": ["fake"], "datasets": ["sums"]}}
WHOLE = ("samples", "scores", "metrics")


def digests(store: Path, run: str) -> dict[str, list[str]]:
    tables = Manifest.load(Store(store), run).cells["fake:sums"].tables
    return {name: [ref.digest for ref in tables[name]] for name in WHOLE}


def test_two_workers_find_what_one_machine_finds(
    site: Site, server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "alone"))
    alone = evaluate(build_evaluation(["fake"], ["sums"], []), server=False)
    assert server.stats["requests"] == 40
    server.reset()
    server.script(latency=10)  # longer than a worker takes to start a run on a busy machine
    site.deploy(**{"on-demand": ON_DEMAND})
    with site.worker("--limit", "1"), site.worker("--limit", "1"):
        runs = [site.start("evaluate/on-demand", shard_size=size) for size in (5, 8)]
        done = [site.finished(run) for run in runs]
    assert [run.state.name for run in done if run.state] == ["Completed", "Completed"]
    (first, second) = done
    assert first.start_time
    assert second.end_time
    assert second.start_time
    assert first.end_time
    assert max(first.start_time, second.start_time) < min(first.end_time, second.end_time), "one worker a run, side by side"
    assert server.stats["requests"] == 40, "what both need is asked once"
    assert len(site.manifests()) == 2
    for manifest in site.manifests():
        assert digests(tmp_path / "store", manifest["run"]) == digests(tmp_path / "alone", alone.run)
