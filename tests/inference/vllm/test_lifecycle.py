"""The servers start late, are watched, and never outlive what they are for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import BackendError
from leaderflow.core.types import Settings
from tests.inference.huggingface.ask import generate, requests
from tests.inference.vllm.support import FAKE, backend, gone, starts

ROOT = Path(__file__).resolve().parents[3]


def eventually(holds: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_VLLM_STARTS", str(tmp_path / "starts"))
    return tmp_path / "starts"


def test_nothing_starts_before_the_first_request(folder: Path, noted: Path) -> None:
    model = backend(folder)
    model.connect()
    assert starts(noted) == []
    assert generate(model, ["2 + 2 ="])[0].status == "ok"
    server, engine, *_ = starts(noted)[0]
    model.close()
    assert gone(server, engine)
    with pytest.raises(BackendError, match="closed"):
        generate(model, ["2 + 2 ="])


def test_a_slow_start_is_waited_for_and_shared(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_crash_at_start_ends_with_the_reason(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_CRASH", "(EngineCore pid=7) ERROR 11-30 [core.py:1] ValueError: no memory for the KV cache")
    model = backend(folder)
    with pytest.raises(
        BackendError, match=r"code 1 while starting: ValueError: no memory for the KV cache \(log: .*\.log\)"
    ) as error:
        generate(model, ["2 + 2 ="])
    assert not error.value.retryable
    assert gone(*starts(noted)[0][:2])
    assert len(starts(noted)) == 1


def test_what_does_not_start_is_not_tried_again(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_CRASH", "ValueError: no such architecture")
    model = backend(folder)
    for _ in range(2):
        with pytest.raises(BackendError, match="no such architecture"):
            generate(model, ["2 + 2 ="])
    assert len(starts(noted)) == 1


def test_a_halt_starts_no_server_and_ends_one_that_is_starting(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        generate(backend(folder), ["2 + 2 ="])
    assert len(starts(noted)) == 3


def test_a_server_that_never_becomes_healthy(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_SLOW", "600")
    with pytest.raises(BackendError, match="not ready within 2 s"):
        generate(backend(folder, arguments={"startup_timeout": 2}), ["2 + 2 ="])
    assert gone(*starts(noted)[0][:2])


def test_closing_ends_a_start_that_is_under_way(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    folder: Path, noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_one_that_dies_again_and_again_is_given_up(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
from inference.vllm.server import Fleet, Launch
Fleet(Launch("tiny", [sys.executable, sys.argv[1], "--model", "x"], {}, 1, None, 60.0)).start(print)
print("started", flush=True)
if sys.argv[2] == "stay":
    sys.stdin.read()
raise RuntimeError
"""


@pytest.mark.crash
@pytest.mark.parametrize(("then", "signals"), [("raise", None), ("stay", signal.SIGKILL), ("stay", signal.SIGTERM)])
def test_the_servers_go_however_the_parent_ends(noted: Path, then: str, signals: signal.Signals | None) -> None:
    command = [sys.executable, "-c", PARENT, str(FAKE), then]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, **pipes) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        if signals is not None:
            parent.send_signal(signals)
        parent.wait(60)
    assert eventually(lambda: gone(*starts(noted)[0][:2]))


@pytest.mark.crash
def test_the_server_goes_with_its_guard(folder: Path, noted: Path) -> None:
    model = backend(folder)
    generate(model, ["2 + 2 ="])
    server = starts(noted)[0][0]
    os.kill(int(Path(f"/proc/{server}/stat").read_text().split()[3]), signal.SIGKILL)
    assert eventually(lambda: gone(server))
    model.close()


def test_replicas_share_the_work(folder: Path, noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1,0,2")
    monkeypatch.setenv("FAKE_VLLM_LATENCY", "0.05")
    model = backend(folder, arguments={"replicas": 2, "tensor_parallel_size": 2})
    assert {a.status for a in generate(model, [f"{n} =" for n in range(30)])} == {"ok"}
    assert sorted(devices for *_, devices in starts(noted)) == ["0,2", "3,1"]
    assert min(model._model._api._client._busy.values()) == 0
    model.close()


def test_the_command_line(folder: Path) -> None:
    arguments = {"quantization": "awq", "engine_args": {"max-num-seqs": 9, "enforce_eager": True, "enable_prefix_caching": False}}
    model = backend(folder, max_seq_len=100, arguments=arguments)
    words = " ".join(model._model._launch.command)
    assert "--max-model-len 101" in words
    assert "--quantization awq --max-model-len 101 --max-num-seqs 9 --enforce-eager --no-enable-prefix-caching" in words
