"""How workers are laid out over a cluster, and what is refused before one is joined."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from flows.api import evaluate
from inference.api.limits import RateLimits
from leaderflow import __version__
from leaderflow.core.errors import LeaderflowError, SpecError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.store import Store
from tasks.placement import placed
from tasks.replica import Replica
from tasks.shared import store_id
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions

GPUS, CPUS = {"CPU": 16.0, "GPU": 4.0}, {"CPU": 8.0}
LOCAL = {"type": "HuggingFaceBaseModel", "abbr": "local", "path": "weights"}
API = {"type": "OpenAISDK", "abbr": "api", "path": "m", "openai_api_base": "http://localhost:1/v1", "batch_size": 64, "rpm": 90}
VLLM = {"type": "VLLM", "abbr": "large", "path": "weights", "arguments": {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}}


@pytest.mark.parametrize(
    ("block", "nodes", "gpus", "workers"),
    [
        (LOCAL, [CPUS, CPUS], 0, 2),
        (LOCAL, [CPUS, GPUS, GPUS], 1, 8),
        ({**LOCAL, "run_cfg": {"num_gpus": 0.5}}, [GPUS], 0.5, 8),
        ({**LOCAL, "run_cfg": {"num_gpus": 3}}, [GPUS, GPUS], 3, 2),
        ({**LOCAL, "run_cfg": {"replicas": 3}}, [GPUS], 1, 3),
        ({**LOCAL, "run_cfg": {"num_gpus": 0}}, [GPUS, GPUS], 0, 2),
        ({**LOCAL, "run_cfg": {"replicas": 12}}, [CPUS, CPUS], 0, 12),
        (VLLM, [GPUS, GPUS], 4, 2),
        (API, [CPUS, GPUS, {}], 0, 2),
        ({**API, "run_cfg": {"replicas": 5}, "rpm": 3}, [GPUS, GPUS], 0, 3),
    ],
)
def test_workers_take_what_their_model_needs(block: Any, nodes: Any, gpus: float, workers: int) -> None:
    place = placed(ModelSpec.model_validate(block), nodes)
    assert (place.needs["num_gpus"], place.most) == (gpus, workers)


def test_workers_share_the_window_and_the_rates_of_an_api(monkeypatch: pytest.MonkeyPatch) -> None:
    part = placed(ModelSpec.model_validate(API), [CPUS, CPUS, CPUS]).part
    assert (part.batch_size, part.rpm, part.tpm) == (21, 30, None)
    monkeypatch.setenv("LEADERFLOW_RATE_SHARE", "0.5")
    part = placed(ModelSpec.model_validate(API), [CPUS, CPUS, CPUS]).part
    assert (part.batch_size, part.rpm) == (21, 15), "what the run may use is shared on"
    assert placed(ModelSpec.model_validate({**LOCAL, "batch_size": 8}), [GPUS]).part.batch_size == 8


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({**VLLM, "run_cfg": {"num_gpus": 8}}, "models.large.run_cfg: no node of the Ray cluster has 8 GPUs and a CPU"),
        (API, "models.api.run_cfg: no node of the Ray cluster has a CPU"),
    ],
)
def test_a_model_that_fits_nowhere_is_refused(block: Any, says: str) -> None:
    with pytest.raises(SpecError, match=f"^{re.escape(says)}$"):
        placed(ModelSpec.model_validate(block), [{"GPU": 4.0}] if block is API else [GPUS, GPUS])


def refused(server: FakeOpenAI, folder: Path, models: Any = None, **scalars: Any) -> str:
    file = write_questions(folder / "d.jsonl", range(3))
    with pytest.raises(LeaderflowError) as caught:
        evaluate(spec([models or model(server)], [dataset(file)], task_runner="ray", **scalars), server=False)
    assert not server.stats["requests"]
    return str(caught.value)


def test_without_a_cluster_the_run_ends_in_one_line(server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert refused(server, tmp_path).startswith("task_runner: ray needs the cluster's address; set RAY_ADDRESS or ray_address")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"  # bound, but nobody listens
        assert refused(server, tmp_path, ray_address=address).startswith(f"no Ray cluster answers at {address} (")
        for wrong in ("ray://127.0.0.1:10001", "127.0.0.1", "head:port"):
            assert refused(server, tmp_path, ray_address=wrong).startswith(
                f"{wrong!r} is no address of a Ray cluster; write the HOST:"
            )
        monkeypatch.setenv("RAY_ADDRESS", address)
        assert "no Ray cluster answers" in refused(server, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setitem(sys.modules, "ray", None)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        says = "task_runner: ray needs Ray; install it with `pip install 'leaderflow[ray]'`"
        assert refused(server, tmp_path, ray_address=address) == says


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker sets for its process is taken back."""
    monkeypatch.setenv("LEADERFLOW_RATE_SHARE", "0.5")


@pytest.mark.usefixtures("shared")
def test_a_worker_keeps_to_its_own_part_of_the_rates(server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = model(server, rpm=30)
    replica = Replica(spec([block], [dataset(write_questions(tmp_path / "d.jsonl", range(3)))]), str(tmp_path / "store"))
    assert replica._session.backend(ModelSpec.model_validate(block)).spec.rpm == 30, "cut out by the run, and not cut again"
    limits = RateLimits(30, None, "account")
    monkeypatch.delenv("LEADERFLOW_RATE_SHARE")
    assert limits._requests._file != RateLimits(30, None, "account")._requests._file, "others on the machine have parts of theirs"


@pytest.mark.usefixtures("shared")
def test_a_worker_without_the_runs_store_or_version_refuses(server: FakeOpenAI, tmp_path: Path) -> None:
    run = spec([model(server)], [dataset(write_questions(tmp_path / "d.jsonl", range(3)))])
    own = store_id(Store(tmp_path / "store"))
    assert Replica(run, str(tmp_path / "store")).refusal(__version__, own) is None
    assert "0.0.7; install the same on all nodes" in str(Replica(run, str(tmp_path / "store")).refusal("0.0.7", own))
    assert f"does not have the run's store at {tmp_path / 'other'}" in str(
        Replica(run, str(tmp_path / "other")).refusal(__version__, own)
    )
