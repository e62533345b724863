"""Models asked by the workers of a real Ray cluster: the same results, and nothing lost but what a dead worker had not stored."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.api import evaluate
from flows.result import RunResult
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, expected_accuracy, model, spec, write_questions
from tests.inference.huggingface import tiny
from tests.ray_cluster import RayCluster, ray_cluster

pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = [pytest.mark.slow_prefect, pytest.mark.xdist_group("ray")]

SAMPLES, SHARD, WINDOW, LATENCY = 400, 50, 32, 0.2
PER_SECOND = WINDOW / LATENCY


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """Two nodes, each with a CPU and what Ray takes for a GPU."""
    with ray_cluster("--num-gpus=1") as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "sums.jsonl", range(SAMPLES))


def digests(store: Path, run: RunResult) -> dict[str, dict[str, list[str]]]:
    cells = Manifest.load(Store(store), run.run).cells
    return {name: {table: [ref.digest for ref in refs] for table, refs in cell.tables.items()} for name, cell in cells.items()}


def both(monkeypatch: pytest.MonkeyPatch, folder: Path, cluster: RayCluster, *blocks: Any, **scalars: Any) -> list[Any]:
    """Evaluate in threads and on the cluster, each in a store of its own; the results are seen to be the same."""
    found = []
    for own in ({"task_runner": "threads"}, {"task_runner": "ray", "ray_address": cluster.address}):
        store = folder / own["task_runner"]
        monkeypatch.setenv("LEADERFLOW_STORE", str(store))
        result = evaluate(spec(*blocks, **scalars, **own), server=False)
        assert result.state == "completed", result.message
        found.append((result, digests(store, result), {path.name for path in store.glob("artifacts/*/*/*")}))
    (here, here_digests, here_keys), (there, there_digests, there_keys) = found
    assert there_digests == here_digests
    assert there_keys == here_keys
    assert there.cells == here.cells
    assert there.requests == here.requests
    assert sum(there.tasks.values()) == sum(here.tasks.values())
    return [here, there]


def test_a_cluster_gives_what_threads_give(
    cluster: RayCluster, server: FakeOpenAI, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: set[int] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            workers.update(process.pid for process in cluster.workers())

    watch = threading.Thread(target=look)
    watch.start()
    try:
        block = model(server, batch_size=WINDOW)
        here, _ = both(monkeypatch, tmp_path, cluster, [block], [dataset(file), dataset(file, abbr="again", n=2)], shard_size=SHARD)
    finally:
        done.set()
        watch.join()
    assert here.cells[0].value == pytest.approx(expected_accuracy(SAMPLES))
    assert server.stats["requests"] == 2 * 2 * SAMPLES, "what two cells share is asked once"
    assert len(workers) == 2


def test_a_killed_worker_costs_what_it_had_not_stored(
    cluster: RayCluster, server: FakeOpenAI, file: Path, prefect_server: str, tmp_path: Path
) -> None:
    server.script(latency=LATENCY)

    def kill() -> None:
        while server.stats["requests"] < SAMPLES / 3:
            time.sleep(0.05)
        os.kill(cluster.workers()[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with temporary_settings({PREFECT_API_URL: prefect_server}):
        block = model(server, batch_size=WINDOW)
        result = evaluate(spec([block], [dataset(file)], shard_size=SHARD, task_runner="ray", ray_address=cluster.address))
    killer.join()
    assert result.state == "completed"
    assert result.cells[0].value == pytest.approx(expected_accuracy(SAMPLES))
    total = server.stats["requests"]
    print(f"{total} requests for {SAMPLES} samples")
    assert SAMPLES < total <= SAMPLES + WINDOW + PER_SECOND / 2
    server.reset()
    again = evaluate(spec([block], [dataset(file)], shard_size=SHARD), server=False)
    assert (again.state, server.stats["requests"]) == ("completed", 0)
    assert digests(tmp_path / "store", again) == digests(tmp_path / "store", result)


def test_a_model_is_loaded_once_by_each_worker_and_makes_room_for_the_next(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.build(tmp_path / "tiny")
    file = write_questions(tmp_path / "few.jsonl", range(24))
    loads = tmp_path / "loads"
    blocks = [
        {
            "type": "tests.flows.counting:Counting",
            "abbr": abbr,
            "path": str(folder),
            "max_out_len": 4,
            "arguments": {"loads": str(loads)},
        }
        for abbr in ("one", "two")
    ]
    text = {"infer_cfg.prompt_template": {"type": "PromptTemplate", "template": "{question}"}}
    datasets = [dataset(file, abbr=name, **text, **{"infer_cfg.inferencer.max_out_len": n}) for name, n in (("a", 3), ("b", 4))]
    both(monkeypatch, tmp_path, cluster, blocks, datasets, shard_size=6)
    pids = loads.read_text().split()
    here, there = [pid for pid in pids if pid == str(os.getpid())], Counter(pid for pid in pids if pid != str(os.getpid()))
    assert len(here) == 1, "the second model is the first one by another name"
    assert sorted(there.values()) == [1, 1]


def test_a_cap_holds_on_a_cluster_too(cluster: RayCluster, server: FakeOpenAI, file: Path) -> None:
    server.script(latency=LATENCY, reply="one two three four five")
    own: dict[str, Any] = {"task_runner": "ray", "ray_address": cluster.address, "shard_size": SHARD}
    result = evaluate(spec([model(server, batch_size=WINDOW)], [dataset(file)], max_tokens=100 * 25, **own), server=False)
    assert (result.state, result.exit_code) == ("incomplete", 3)
    assert "the cap of 2,500 tokens (max_tokens) was reached" in result.message
    assert 100 <= server.stats["requests"] == result.requests["sent"] <= 100 + WINDOW + PER_SECOND / 2


def test_ctrl_c_finishes_what_is_in_flight(cluster: RayCluster, server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    server.script(latency=LATENCY)
    plan = tmp_path / "spec.json"
    plan.write_text(json.dumps({"models": [model(server, batch_size=WINDOW)], "datasets": [dataset(file)], "shard_size": SHARD}))
    command = [sys.executable, "-m", "leaderflow", "run", str(plan), "--no-server", "--json", "--task-runner", "ray"]
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not server.stats["requests"]:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    result = json.loads(out)
    assert "interrupted" in result["message"]
    assert 0 < server.stats["requests"] == result["requests"]["sent"] < SAMPLES
    server.reset()
    again = evaluate(spec([model(server)], [dataset(file)]), server=False)
    assert server.stats["requests"] == SAMPLES - result["requests"]["sent"], "all of them were stored"
    assert again.state == "completed"


def test_a_broken_endpoint_and_a_model_too_large_end_in_one_line(cluster: RayCluster, server: FakeOpenAI, file: Path) -> None:
    own = {"task_runner": "ray", "ray_address": cluster.address}
    with pytest.raises(Exception, match=r"^models\.fake\.run_cfg: no node of the Ray cluster has 4 GPUs and a CPU$"):
        evaluate(spec([model(server, run_cfg={"num_gpus": 4})], [dataset(file)], **own), server=False)
    server.script(rules=[{"contains": "How much is 7 plus", "replies": [{"status": 500}]}])
    result = evaluate(spec([model(server, retries=0)], [dataset(file)], **own), server=False)
    assert (result.state, result.errors[0].rows) == ("incomplete", 1)
    assert "500" in result.message


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_a_node_without_the_store_is_found_out(server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    says = rf"does not have the run's store at {store}: LEADERFLOW_STORE must be a folder"
    without = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(store)]
    with ray_cluster(nodes=1, within=without) as blind, pytest.raises(Exception, match=says):
        evaluate(spec([model(server)], [dataset(file)], task_runner="ray", ray_address=blind.address), server=False)
    assert not server.stats["requests"]
