"""The servers start late, are watched, and never outlive what they are for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from inference.vllm.backend import VLLM
from inference.vllm.offline import ENGINE
from leaderflow.core.errors import BackendError
from leaderflow.core.paths import home
from leaderflow.core.types import Settings
from tests.inference.huggingface.ask import generate, requests
from tests.inference.vllm import support
from tests.inference.vllm.support import FAKE, gone, starts

Make = Callable[..., VLLM]

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.xdist_group("vllm")  # one environment for the stand-in


def eventually(holds: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_VLLM_STARTS", str(tmp_path / "starts"))
    return tmp_path / "starts"


def test_nothing_starts_before_the_first_request(backend: Make, folder: Path, noted: Path) -> None:
    model = backend(folder)
    model.connect()
    assert starts(noted) == []
    assert generate(model, ["2 + 2 ="])[0].status == "ok"
    server, engine, *_ = starts(noted)[0]
    model.close()
    assert gone(server, engine)
    with pytest.raises(BackendError, match="closed"):
        generate(model, ["2 + 2 ="])


def test_a_slow_start_is_waited_for_and_shared(backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_SLOW", "1")
    model = backend(folder)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda n=n: found.extend(generate(model, [f"{n} ="]))) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model.close()
    assert [a.status for a in found] == ["ok"] * 3
    assert len(starts(noted)) == 1


def test_a_crash_at_start_ends_with_the_reason(backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_CRASH", "(EngineCore pid=7) ERROR 11-30 [core.py:1] ValueError: no memory for the KV cache")
    model = backend(folder)
    with pytest.raises(
        BackendError, match=r"code 1 while starting: ValueError: no memory for the KV cache \(log: .*\.log\)"
    ) as error:
        generate(model, ["2 + 2 ="])
    assert not error.value.retryable
    assert gone(*starts(noted)[0][:2])
    assert len(starts(noted)) == 1


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "(EngineCore pid=7) ERROR 11-30 23:35:06 [core.py:1]     raise RuntimeError(\n"
            "(EngineCore pid=7) ERROR 11-30 23:35:06 [core.py:1] RuntimeError: no room for the cache\n"
            "    raise RuntimeError(\nRuntimeError: Engine core initialization failed. See root cause above.",
            "RuntimeError: no room for the cache",
        ),
        (
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
            "  Value error, max_model_len (9) is greater than 8 [type=value_error]\n    For further information visit ...",
            "Value error, max_model_len (9) is greater than 8 [type=value_error]",
        ),
        ("usage: api_server.py [-h]\napi_server.py: error: unrecognized arguments: --x", "unrecognized arguments: --x"),
        ("one\ntwo", "File ... | one | two"),
    ],
)
def test_the_reason_is_told_and_not_what_stands_around_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, log: str, reason: str
) -> None:
    monkeypatch.setenv("FAKE_VLLM_CRASH", log)
    with pytest.raises(BackendError) as error:
        generate(support.backend(folder), ["2 + 2 ="])
    assert f"while starting: {reason} (log: " in str(error.value)


def test_what_does_not_start_is_not_tried_again(backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_CRASH", "ValueError: no such architecture")
    model = backend(folder)
    for _ in range(2):
        with pytest.raises(BackendError, match="no such architecture"):
            generate(model, ["2 + 2 ="])
    assert len(starts(noted)) == 1


def test_a_halt_starts_no_server_and_ends_one_that_is_starting(
    backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM_SLOW", "600")
    model, found = backend(folder), []
    thread = threading.Thread(target=lambda: found.extend(generate(model, ["2 + 2 ="])))
    thread.start()
    assert eventually(lambda: bool(starts(noted)))
    model.halt("enough")
    thread.join(60)
    assert [(a.status, a.error) for a in [*found, *generate(model, ["1 ="])]] == [("error", "enough")] * 2
    assert len(starts(noted)) == 1
    assert eventually(lambda: gone(*starts(noted)[0][:2]))
    model.close()


def test_a_port_that_was_taken_is_another_try(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_CRASH", "OSError: [Errno 98] Address already in use")
    with pytest.raises(BackendError, match="Address already in use"):
        generate(support.backend(folder), ["2 + 2 ="])
    assert len(starts(noted)) == 3


def test_a_server_that_never_becomes_healthy(backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_SLOW", "600")
    with pytest.raises(BackendError, match="not ready within 2 s"):
        generate(backend(folder, arguments={"startup_timeout": 2}), ["2 + 2 ="])
    assert gone(*starts(noted)[0][:2])


def test_closing_ends_a_start_that_is_under_way(backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_SLOW", "600")
    model, errors = backend(folder), []

    def ask() -> None:
        try:
            generate(model, ["2 + 2 ="])
        except BackendError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert eventually(lambda: bool(starts(noted)))
    model.close()
    thread.join(30)
    assert errors
    assert gone(*starts(noted)[0][:2])


def test_a_death_in_the_middle_blames_no_row_and_the_next_request_starts_anew(
    backend: Make, folder: Path, noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM_DIE_AFTER", "20")
    monkeypatch.setenv("FAKE_VLLM_DIED", str(tmp_path / "died"))
    model = backend(folder)
    answers = []
    with pytest.raises(BackendError, match="illegal memory access") as error:
        answers.extend(model.generate(requests([f"{n} + 1 =" for n in range(60)], Settings())))
    assert error.value.retryable
    assert {a.status for a in answers} <= {"ok"}
    assert eventually(lambda: gone(*starts(noted)[0][:2]))
    assert {a.status for a in generate(model, [f"{n} + 1 =" for n in range(60)])} == {"ok"}
    assert len(starts(noted)) == 2
    model.close()


def test_one_that_dies_again_and_again_is_given_up(
    backend: Make, folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM_DIE_AFTER", "0")
    model = backend(folder, arguments={"restarts": 1})
    for _ in range(2):
        with pytest.raises(BackendError) as error:
            generate(model, ["2 + 2 ="])
        assert error.value.retryable
    with pytest.raises(BackendError, match="died 2 times") as error:
        generate(model, ["2 + 2 ="])
    assert not error.value.retryable
    assert len(starts(noted)) == 2


PARENT = """
import sys
from inference.vllm.fleet import Fleet
from inference.vllm.offline import Child
from inference.vllm.process import Launch
from inference.vllm.server import Server
how, then, *command = sys.argv[1:]
Fleet(Launch("tiny", command, {}, patience=60.0), {"server": Server, "offline": Child}[how]).start(print)
print("started", flush=True)
if then == "stay":
    sys.stdin.read()
raise RuntimeError
"""


@pytest.mark.crash
@pytest.mark.parametrize("how", ["server", "offline"])
@pytest.mark.parametrize(("then", "signals"), [("raise", None), ("stay", signal.SIGKILL), ("stay", signal.SIGTERM)])
def test_the_processes_go_however_the_parent_ends(
    fake_python: Path, noted: Path, how: str, then: str, signals: signal.Signals | None
) -> None:
    offline = [str(fake_python), str(ENGINE), '{"engine": {}, "lora": null}']
    command = offline if how == "offline" else [sys.executable, str(FAKE), "--model", "x"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    words = [sys.executable, "-c", PARENT, how, then, *command]
    with subprocess.Popen(words, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, **pipes) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        if signals is not None:
            parent.send_signal(signals)
        parent.wait(60)
    assert eventually(lambda: gone(*starts(noted)[0][:2]))


@pytest.mark.crash
def test_the_server_goes_with_its_guard(backend: Make, folder: Path, noted: Path) -> None:
    model = backend(folder)
    generate(model, ["2 + 2 ="])
    server = starts(noted)[0][0]
    os.kill(int(Path(f"/proc/{server}/stat").read_text().split()[3]), signal.SIGKILL)
    assert eventually(lambda: gone(server))
    model.close()


def test_replicas_share_the_work_and_the_gpus(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1,0,2")
    monkeypatch.setenv("FAKE_VLLM_LATENCY", "0.05")
    model = support.backend(folder, arguments={"replicas": 2, "tensor_parallel_size": 2})
    assert {a.status for a in generate(model, [f"{n} =" for n in range(30)])} == {"ok"}
    assert sorted(devices for *_, devices in starts(noted)) == ["0,2", "3,1"]
    assert model._model._api._client._busy == [0, 0]
    model.close()
    with pytest.raises(BackendError, match="replica 3 needs 2 GPUs more than CUDA_VISIBLE_DEVICES lists"):
        generate(support.backend(folder, arguments={"replicas": 3, "tensor_parallel_size": 2}), ["2 + 2 ="])


def test_weights_that_do_not_fit_start_nothing(
    folder: Path, fake_python: Path, noted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    monkeypatch.setattr(psutil, "swap_memory", lambda: SimpleNamespace(free=0))
    with pytest.raises(BackendError, match=r"GB of memory in float32 and 0\.0 GB are free"):
        generate(support.backend(folder, python=fake_python), ["2 + 2 ="])
    assert starts(noted) == []


def test_replicas_of_the_offline_engine(folder: Path, fake_python: Path, noted: Path) -> None:
    model = support.backend(folder, python=fake_python, arguments={"replicas": 2})
    assert {a.status for a in generate(model, [f"{n} =" for n in range(30)])} == {"ok"}
    assert len(starts(noted)) == 2
    logs = list((home() / "logs").glob(f"vllm-tiny-offline-{os.getpid()}-*.log"))
    assert len(logs) == 2, "another run of the same model has logs of its own"
    model.close()


def test_two_models_on_one_gpu(folder: Path, noted: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, half = support.backend(folder, abbr="first"), {"engine_args": {"gpu_memory_utilization": 0.5}}
    generate(first, ["2 + 2 ="])
    with pytest.raises(BackendError, match=r"second: GPU 0 is still in use by first \(of process \d+\); wait .*utilization"):
        generate(support.backend(folder, abbr="second", arguments={"startup_timeout": 1}), ["2 + 2 ="])
    assert "second: waiting for GPU 0, which is in use by first" in caplog.text
    assert len(starts(noted)) == 1
    waits, found = support.backend(folder, abbr="waits", arguments=half), []
    thread = threading.Thread(target=lambda: found.extend(generate(waits, ["2 + 2 ="])))
    thread.start()
    first.close()
    thread.join(60)
    other = support.backend(folder, abbr="other", arguments=half)  # two halves fit
    assert [a.status for a in [*found, *generate(other, ["2 + 2 ="])]] == ["ok", "ok"]
    waits.close()
    other.close()


def test_the_command_line(folder: Path, fake_python: Path) -> None:
    engine = {"max-num-seqs": 9, "enforce_eager": True, "enable_prefix_caching": False}
    arguments = {"quantization": "awq", "engine_args": engine}
    model = support.backend(folder, max_seq_len=100, arguments=arguments)
    words = " ".join(model._model._launch.command)
    assert "--quantization awq --max-model-len 101 --max-num-seqs 9 --enforce-eager --no-enable-prefix-caching" in words
    offline = support.backend(folder, python=fake_python, max_seq_len=512, arguments=arguments)
    named = json.loads(offline._model._launch.command[-1])
    assert named["lora"] is None
    assert {
        "model": str(folder.resolve()),
        "quantization": "awq",
        "max_model_len": 512,
        "max_num_seqs": 9,
        "enable_prefix_caching": False,
    }.items() <= named["engine"].items()
