"""Small evaluations for the flow tests: a JSONL file, a model on the fake server, a run without Prefect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flows.api import evaluate
from flows.result import RunResult
from leaderflow.core.specs import EvaluationSpec
from tests.fake_openai import FakeOpenAI
from tests.fake_openai.script import unit

QUESTION = "How much is {a} plus {b}?"


def question(i: int) -> str:
    return QUESTION.format(a=i, b=i * 7 % 1000)


def reference(i: int) -> str:
    """The number that the fake server answers to question i, for two in three questions; another one for the third."""
    number = int(unit(question(i)) * 1000)
    return str(number if i % 3 else number + 1)


def expected_accuracy(n: int) -> float:
    return 100 * sum(1 for i in range(n) if i % 3) / n


def write_questions(path: Path, numbers: Iterable[int]) -> Path:
    rows = [{"question": question(i), "answer": reference(i)} for i in numbers]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def dataset(file: Path, **changes: Any) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "JsonlDataset",
        "abbr": "sums",
        "path": str(file),
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": "{question}"}]},
            "inferencer": {"type": "GenInferencer", "max_out_len": 64},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}, "pred_postprocessor": {"type": "final_number"}},
    }
    return merged(block, changes)


def model(server: FakeOpenAI, **changes: Any) -> dict[str, Any]:
    block = {
        "type": "OpenAISDK",
        "abbr": "fake",
        "path": "fake",
        "openai_api_base": server.base_url,
        "batch_size": 64,
        "revision": "1",
    }
    return merged(block, {"retries": 2, **changes})


def merged(block: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the block with dotted changes put in: ``{"infer_cfg.inferencer.max_out_len": 5}``."""
    block = json.loads(json.dumps(block))
    for key, value in changes.items():
        *path, last = key.replace("__", ".").split(".")
        place = block
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return block


def spec(models: list[dict[str, Any]], datasets: list[dict[str, Any]], **scalars: Any) -> EvaluationSpec:
    return EvaluationSpec.model_validate({"models": models, "datasets": datasets, **scalars})


def run(models: dict[str, Any], datasets: dict[str, Any], **scalars: Any) -> RunResult:
    return evaluate(spec([models], [datasets], **scalars), server=False)
