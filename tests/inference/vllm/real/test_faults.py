"""vLLM killed in the middle of a run, and vLLM that cannot start."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from flows.progress import Silent
from inference.vllm.client import Replicas
from leaderflow.core.errors import BackendError
from leaderflow.core.types import Answer
from tests.inference.huggingface.ask import generate
from tests.inference.vllm.real.setting import ENGINE, HF, MARKS, ROWS, backend, processes, run, vllm

pytestmark = MARKS


class Asked:
    """The bodies that were put to vLLM: how often, and which were answered."""

    def __init__(self) -> None:
        self.times, self.answered = Counter[bytes](), set[bytes]()


class KillsAfter(Silent):
    """Kills a process of vLLM's by ``kill -9`` once so many answers have come, and notes what was answered until then."""

    def __init__(self, answers: int, victim: str, asked: Asked) -> None:
        self.left, self._victim, self._asked, self._lock = answers, victim, asked, threading.Lock()
        self.answered_before = set[bytes]()

    def answered(self, cell: str, answer: Answer) -> None:
        with self._lock:
            self.left -= 1
            now = self.left == 0
        if now:
            words = {p: " ".join(p.cmdline()) for p in psutil.Process().children(recursive=True)}
            victims = [p for p, said in words.items() if self._victim in said and "guard.py" not in said]
            self.answered_before = set(self._asked.answered)
            os.kill(victims[0].pid, signal.SIGKILL)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What is put to vLLM from now on."""
    found, post = Asked(), Replicas.post

    async def noted(self: Replicas, path: str, body: bytes) -> bytes:
        found.times[body] += 1
        reply = await post(self, path, body)
        found.answered.add(body)
        return reply

    monkeypatch.setattr(Replicas, "post", noted)
    return found


@pytest.mark.parametrize(
    ("engine", "victim"),
    [("server", "api_server"), ("server", "EngineCore"), ("offline", "offline_engine")],
)
def test_killing_it_in_the_middle_costs_only_what_was_in_flight(
    engine: str, victim: str, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "store"))
    rows, window = ROWS["gsm8k"], HF["batch_size"]
    progress = KillsAfter(rows // 2, victim, asked)
    result = run([vllm(engine=engine)], ["gsm8k"], progress)
    again = {body for body, times in asked.times.items() if times > 1}
    print(
        f"\n{engine}, {victim} killed by -9 after {rows // 2} of {rows} answers: {asked.times.total()} requests for {rows} rows, "
        f"{len(again)} asked again (window {window}), none of them answered before"
    )
    assert progress.left <= 0
    assert len(asked.times) == result.requests["sent"] == rows
    assert not again & progress.answered_before
    assert 0 < len(again) <= window
    assert not processes()


@pytest.mark.parametrize(
    ("fields", "arguments", "error"),
    [
        ({}, {"startup_timeout": 3}, r"was not ready within 3 s \(`startup_timeout`\)"),
        ({}, {"env": {**ENGINE["env"], "VLLM_CPU_KVCACHE_SPACE": "100000"}, "engine": "offline"}, "memory|KV"),
        ({"max_seq_len": 100_000}, {}, "max_model_len|maximum"),
        ({}, {"engine_args": {"max_num_sequences": 3}}, "max-num-sequences"),
    ],
)
def test_what_cannot_start_says_why_on_one_line(fields: dict[str, Any], arguments: dict[str, Any], error: str) -> None:
    model = backend(vllm(fields=fields, **arguments))
    with pytest.raises(BackendError, match=error) as found:
        generate(model, ["2 + 2 ="], max_out_len=2)
    print(f"\n{found.value}")
    assert "\n" not in str(found.value)
    model.close()
    assert not processes()


def test_wrong_weights_are_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"no folder of weights at '.*nothing'"):
        backend(vllm(fields={"path": str(tmp_path / "nothing")}))
    with pytest.raises(BackendError, match=r"config\.json is missing"):
        backend(vllm(fields={"path": str(tmp_path)}))
