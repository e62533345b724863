"""A real vLLM, started by leaderflow, beside Transformers and the API backend: `make test-vllm`."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest

from flows.api import evaluate
from flows.progress import Silent
from flows.result import RunResult
from inference.vllm import environment
from inference.vllm.backend import VLLMwithChatTemplate
from inference.vllm.server import Fleet
from leaderflow.core.errors import LeaderflowError
from leaderflow.core.load import build_evaluation
from leaderflow.core.manifest import Manifest
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import ModelSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Answer
from tests.golden import data_dir

HOME = os.environ.get("LEADERFLOW_VLLM_HOME", "")

pytestmark = [pytest.mark.vllm, pytest.mark.skipif(not HOME, reason="run `make test-vllm`")]

ARC, GSM8K = 200, 64

VLLM_ARGUMENTS = {
    "dtype": "float32",
    "engine_args": {"enforce_eager": True},
    "env": {"VLLM_CPU_KVCACHE_SPACE": "1", "TORCH_COMPILE_DISABLE": "1"},
}


@pytest.fixture(scope="module", autouse=True)
def _one_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One store for all tests of the file, which build on each other; the home is the one with the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", HOME)
        patch.setenv("LEADERFLOW_STORE", str(tmp_path_factory.mktemp("vllm") / "store"))
        yield


@pytest.fixture(autouse=True)
def _own_home() -> None:
    """Leave home and store as they are set for the file."""


def block(kind: str, abbr: str, **fields: Any) -> dict[str, Any]:
    path = str(Path(HOME) / "models" / "smollm2-135m")
    return {"type": kind, "abbr": abbr, "path": path, "max_seq_len": 2048, "batch_size": 16, **fields}


VLLM = block("VLLMwithChatTemplate", "vllm", arguments=VLLM_ARGUMENTS)
HF = block("HuggingFacewithChatTemplate", "hf", arguments={"dtype": "float32"})
HF_TEXT = block("HuggingFaceBaseModel", "hf-text", arguments={"dtype": "float32"})


def run(models: list[dict[str, Any]], datasets: list[str], rows: int, progress: Any = None) -> RunResult:
    sets = [f"reader_cfg.test_range=[:{rows}]"]
    sets += ["infer_cfg.inferencer.max_out_len=24"] if not any("ppl" in name for name in datasets) else []
    spec = build_evaluation(models, datasets, sets, data_dir=str(data_dir()), offline=True)
    result = evaluate(spec, server=False, progress=progress)
    assert result.state == "completed", result.message
    return result


def outputs(result: RunResult, model: str) -> pa.Table:
    store = Store(store_uri())
    cells = Manifest.load(store, result.run).cells
    entry = next(entry for entry in cells.values() if entry.model == model)
    return pa.concat_tables([store.read(ref) for ref in entry.tables["outputs"]])


def extracted(result: RunResult, model: str) -> list[str]:
    store = Store(store_uri())
    entry = next(entry for entry in Manifest.load(store, result.run).cells.values() if entry.model == model)
    return [row for ref in entry.tables["extracted"] for row in store.read(ref).column("extracted").to_pylist()]


def worst_difference(left: pa.Table, right: pa.Table) -> float:
    """The largest difference of the mean log-likelihood of a token, over all candidates."""
    pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
    return max(abs(a["nll"] / a["scored_tokens"] - b["nll"] / b["scored_tokens"]) for a, b in pairs)


def first_tokens(table: pa.Table, tokenizer: Any) -> list[list[int]]:
    return [tokenizer(text, add_special_tokens=False)["input_ids"][:16] for text in table.column("output").to_pylist()]


def compare_choices(result: RunResult, left: str, right: str) -> None:
    same = sum(a == b for a, b in zip(extracted(result, left), extracted(result, right), strict=True))
    worst = worst_difference(outputs(result, left), outputs(result, right))
    print(f"\nARC ppl, {left} and {right}: {same} of {ARC} choices agree, per-token log-likelihood within {worst:.1e}")
    assert same >= 0.99 * ARC
    assert worst <= 1e-3


def compare_beginnings(left: pa.Table, right: pa.Table, what: str) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(HF["path"])
    same = sum(a == b for a, b in zip(first_tokens(left, tokenizer), first_tokens(right, tokenizer), strict=True))
    print(f"\nGSM8K, {what}: the first 16 greedy tokens agree on {same} of {left.num_rows} prompts")
    assert same >= 0.9 * left.num_rows


def test_ppl_agrees_with_transformers() -> None:
    compare_choices(run([HF, VLLM], ["arc_c_ppl"], ARC), "hf", "vllm")


def test_greedy_generation_agrees_with_transformers() -> None:
    result = run([HF, VLLM], ["gsm8k"], GSM8K)
    compare_beginnings(outputs(result, "hf"), outputs(result, "vllm"), "Transformers and vLLM")


@contextlib.contextmanager
def served() -> Iterator[str]:
    model = VLLMwithChatTemplate(ModelSpec(**VLLM), **VLLM_ARGUMENTS)
    fleet = Fleet(model._model._launch)
    yield fleet.start(print)[0]
    fleet.stop()
    model.close()


def test_the_api_backend_on_that_server() -> None:
    with served() as address:
        elsewhere = {"path": "model", "openai_api_base": address, "revision": "1"}
        scoring = {"route": "completions", "logprobs": "prompt_logprobs"}
        api = block("OpenAISDK", "api", **elsewhere, generation_kwargs={"temperature": 0.0})
        result = run([HF_TEXT, block("OpenAISDK", "api-text", **elsewhere, arguments=scoring)], ["arc_c_ppl"], ARC)
        compare_choices(result, "hf-text", "api-text")
        generated = run([HF, api], ["gsm8k"], GSM8K)
        compare_beginnings(outputs(generated, "hf"), outputs(generated, "api"), "Transformers and the API backend")


class KillsAfter(Silent):
    """Kills vLLM once so many answers have come."""

    def __init__(self, answers: int) -> None:
        self.left, self.answers, self._lock = answers, 0, threading.Lock()

    def answered(self, cell: str, answer: Answer) -> None:
        with self._lock:
            self.answers += 1
            self.left -= 1
            now = self.left == 0
        if now:
            servers = [p for p in psutil.Process().children(recursive=True) if "api_server" in " ".join(p.cmdline())]
            for server in servers[-1:]:
                os.kill(server.pid, signal.SIGKILL)


def test_killing_it_in_the_middle_costs_only_what_was_in_flight() -> None:
    progress = KillsAfter(GSM8K // 2)
    fresh = {**VLLM, "arguments": {**VLLM_ARGUMENTS, "extra_body": {"repetition_penalty": 1.01}}}
    result = run([fresh], ["gsm8k"], GSM8K, progress)
    assert progress.left <= 0
    print(f"\nkilled after {GSM8K // 2} answers: {result.requests['sent']} answers were asked for {GSM8K} rows")
    assert result.requests["sent"] == GSM8K
    assert not [p for p in psutil.Process().children(recursive=True) if "vllm" in " ".join(p.cmdline())]


def test_the_installer_tells_why_pip_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path))
    with pytest.raises(LeaderflowError, match=r"pip install .* failed: .*no\.whl"):
        environment.install(cpu=True, requirement=str(tmp_path / "no.whl"), say=print)
    assert not environment.folder().exists()
