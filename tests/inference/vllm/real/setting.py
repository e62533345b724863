"""SmolLM2 under a real vLLM and beside it: model blocks, runs, and what is read out of a run's tables."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest

from flows.api import evaluate
from flows.progress import Silent
from flows.result import RunResult
from inference.stage import make_backend
from inference.vllm.backend import VLLM
from inference.vllm.fleet import Fleet
from leaderflow.core.load import build_evaluation
from leaderflow.core.manifest import Manifest
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import ModelSpec
from leaderflow.core.store import Store
from tests.golden import data_dir

HOME = os.environ.get("LEADERFLOW_VLLM_HOME", "")

MARKS = [pytest.mark.vllm, pytest.mark.skipif(not HOME, reason="run `make test-vllm`")]

WEIGHTS = Path(HOME) / "models" / "smollm2-135m"

ROWS = {"arc_c_ppl": 200, "arc_c_gen": 64, "gsm8k": 64}

NEW_TOKENS = 24

ENGINE: dict[str, Any] = {
    "dtype": "float32",
    "engine_args": {"enforce_eager": True},
    "env": {"VLLM_CPU_KVCACHE_SPACE": "1", "TORCH_COMPILE_DISABLE": "1"},
}


def block(kind: str, abbr: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "abbr": abbr, "path": str(WEIGHTS), "max_seq_len": 2048, "batch_size": 16, **fields}


def vllm(
    abbr: str = "vllm", kind: str = "VLLMwithChatTemplate", *, fields: dict[str, Any] | None = None, **arguments: Any
) -> dict[str, Any]:
    return block(kind, abbr, **(fields or {}), arguments={**ENGINE, **arguments})


def backend(model: dict[str, Any]) -> Any:
    return make_backend(ModelSpec(**model))


HF = block("HuggingFacewithChatTemplate", "hf", arguments={"dtype": "float32"})
HF_TEXT = block("HuggingFaceBaseModel", "hf-text", arguments={"dtype": "float32"})


def run(models: list[dict[str, Any]], datasets: list[str], progress: Silent | None = None) -> RunResult:
    sets = [f"datasets.{name}.reader_cfg.test_range=[:{ROWS[name]}]" for name in datasets]
    sets += [f"datasets.{name}.infer_cfg.inferencer.max_out_len={NEW_TOKENS}" for name in datasets if "ppl" not in name]
    spec = build_evaluation(models, datasets, sets, data_dir=str(data_dir()), offline=True)
    result = evaluate(spec, server=False, progress=progress)
    assert result.state == "completed", result.message
    return result


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of a vLLM server."""
    model = backend(vllm("served"))
    assert isinstance(model, VLLM)
    fleet = Fleet(model._model._launch, model._model._make)
    try:
        yield fleet.start(print)[0].base_url
    finally:
        fleet.stop()


def tables(result: RunResult, cell: str, stage: str) -> pa.Table:
    store = Store(store_uri())
    entry = Manifest.load(store, result.run).cells[cell]
    return pa.concat_tables([store.read(ref) for ref in entry.tables[stage]])


def processes() -> list[psutil.Process]:
    """What runs of vLLM below this process, the guards left out."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            words = " ".join(process.cmdline())
            if any(name in words for name in ("api_server", "offline_engine", "VLLM::")) and "guard.py" not in words:
                found.append(process)
    return found
