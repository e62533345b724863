"""Real evaluation blocks against the recorded behaviour of OpenCompass: clean the answers, clean the references, evaluate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from evaluators import postprocessors
from evaluators.postprocessors import recorded as cleaners
from evaluators.recorded import RECORDED
from leaderflow.core.errors import LeaderflowError
from leaderflow.core.registry import bind, build, known
from tests.golden import golden, run_cases

pytestmark = pytest.mark.golden

Case = dict[str, Any]


def cleaner(config: Case | None) -> Callable[[Any], Any] | None:
    """The postprocessor of a block, or None where it has none."""
    if not config:
        return None
    name = cleaners.RECORDED.get(config["type"], config["type"])
    if name not in known("postprocessor"):
        pytest.skip(f"postprocessor {config['type']} is not registered")
    return bind("postprocessor", config | {"type": name})


def outcome(case: Case) -> tuple[list[Any], list[Any], dict[str, float]]:
    """Cleaned predictions and references, and the metrics."""
    block = case["eval_cfg"]
    predictions, references = case["predictions"], case["references"]
    if clean := cleaner(block.get("pred_postprocessor")):
        predictions = [clean(text) for text in predictions]
    if clean := cleaner(block.get("dataset_postprocessor")):
        references = [clean(text) for text in references]
    config = {k: v for k, v in block["evaluator"].items() if k not in ("pred_postprocessor", "dataset_postprocessor")}
    evaluator = build("evaluator", config | {"type": RECORDED.get(config["type"], config["type"])})
    return predictions, references, evaluator.measure(predictions, references)


def check(case: Case) -> str | None:
    """None, or what differs."""
    expected = case.get("expected", {})
    failed = "expected_error" in case or "error" in expected.get("result", {})
    try:
        predictions, references, metrics = outcome(case)
    except LeaderflowError as exc:
        return None if failed else f"refused: {exc}"
    if failed:
        return f"no error, but {metrics}"
    if predictions != expected.get("processed_predictions", predictions):
        return f"answers {predictions} instead of {expected['processed_predictions']}"
    if references != expected.get("processed_references", references):
        return f"references {references} instead of {expected['processed_references']}"
    for name, value in expected["result"].items():
        found = metrics.get(name)
        if isinstance(value, int | float) and (found is None or not math.isclose(found, value, rel_tol=1e-6, abs_tol=1e-6)):
            return f"{name}: {found} instead of {value}"
    return None


def excepted(case: Case) -> str | None:
    """Why a recorded result is not ours: no case today."""
    return None


def test_evaluation_blocks_equal_the_recorded_ones() -> None:
    assert postprocessors.__doc__
    run_cases("real_eval.jsonl", golden("real_eval.jsonl"), check, excepted)
