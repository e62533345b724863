from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from evaluators import stage
from evaluators.choice import choose
from leaderflow.core.artifacts import OUTPUTS, samples_of, table_of
from leaderflow.core.errors import SpecError
from leaderflow.core.specs import DatasetSpec


def line(label: str | None, nll: float, tokens: int, part: int = 0, status: str = "ok") -> dict[str, Any]:
    return {"request_key": "", "sample_id": "s0", "label": label, "part": part, "repeat": 0, "status": status, "nll": nll} | {
        "scored_tokens": tokens
    }


def test_each_choice() -> None:
    lines = [line("A", 4.0, 4), line("B", 3.0, 2), line("A", 2.0, 4, part=1), line("B", 2.9, 2, part=1)]
    assert choose(lines, "token_mean") == "A"
    assert choose(lines, "sum") == "B"
    assert choose(lines, "difference") == "B"
    assert choose([line("A", 0.0, 1), line("B", 0.0, 1)], "probabilities") == [0.5, 0.5]
    with pytest.raises(SpecError, match="did you mean 'token_mean'"):
        choose(lines, "token_men")


def test_ties_go_to_the_first_label() -> None:
    assert choose([line("B", 2.0, 2), line("A", 1.0, 1)], "token_mean") == "B"


def dataset() -> DatasetSpec:
    infer = {"prompt_template": {"type": "RawPromptTemplate"}, "inferencer": {"type": "PPLInferencer"}}
    reader = {"input_columns": "q", "output_column": "a"}
    return DatasetSpec(
        type="JsonlDataset", abbr="toy", reader_cfg=reader, infer_cfg=infer, eval_cfg={"evaluator": {"type": "AccEvaluator"}}
    )


def extract(*lines: dict[str, Any], choice: str | None = "token_mean") -> dict[str, Any]:
    outputs: pa.Table = table_of(OUTPUTS, lines)
    return stage.postprocess(outputs, samples_of([("s0", {"q": "?", "a": "B"})]), dataset(), choice=choice).to_pylist()[0]


def test_labels_become_the_extracted_answer() -> None:
    found = extract(line("A", 4.0, 2), line("B", 3.0, 2))
    assert (found["status"], found["extracted"], found["reference"], found["extractor"]) == ("ok", '"B"', '"B"', "token_mean")


def test_one_failed_label_fails_the_sample() -> None:
    assert extract(line("A", 4.0, 2), line("B", 3.0, 2, status="error"))["status"] == "error"
    assert extract(line("A", 4.0, 2, status="rejected"), line("B", 3.0, 2, status="filtered"))["status"] == "rejected"


def test_a_likelihood_without_labels_is_its_mean_loss() -> None:
    assert extract(line(None, 6.0, 4), choice=None)["extracted"] == "1.5"
