"""The preview shows what a run sends: the same inputs under the same request keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.preview import preview
from leaderflow.core.artifacts import OUTPUTS
from leaderflow.core.errors import UsageError
from leaderflow.core.manifest import Manifest
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, run, spec, write_questions
from tests.inference.huggingface.tiny import build


def test_request_keys_are_those_of_the_answers_also_for_equal_inputs(server: FakeOpenAI, tmp_path: Path) -> None:
    rows = [{"question": "How much is 1 plus 1?", "answer": str(i)} for i in range(3)]
    file = tmp_path / "same.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    models, datasets = model(server), dataset(file)
    run(models, datasets)
    store = Store(tmp_path / "store")
    outputs = store.read(Manifest.load(store, "latest").cells["fake:sums"].tables["outputs"][0])
    assert outputs.schema.names == OUTPUTS.names
    asked = dict(zip(outputs.column("sample_id").to_pylist(), outputs.column("request_key").to_pylist(), strict=True))
    assert len(set(asked.values())) == 3
    whole = spec([models], [datasets])
    for sample, key in asked.items():
        (row,) = preview(whole, whole.datasets[0], whole.models[0], sample=sample).rows
        assert (row["sample_id"], row["request_key"]) == (sample, key)
    shown = preview(whole, whole.datasets[0], whole.models[0], n=3).rows
    assert [row["request_key"] for row in shown] == list(asked.values())


def test_what_the_chat_template_makes_of_a_prompt(tmp_path: Path) -> None:
    build(tmp_path / "tiny")
    block = {"type": "HuggingFacewithChatTemplate", "abbr": "tiny", "path": str(tmp_path / "tiny")}
    datasets = dataset(write_questions(tmp_path / "sums.jsonl", range(2)))
    whole = EvaluationSpec.model_validate({"models": [block], "datasets": [datasets]})
    found = preview(whole, whole.datasets[0], whole.models[0], n=1, texts=True)
    text = found.rows[0]["model_text"]
    assert text == "<|im_start|>user\nHow much is 0 plus 0?<|im_end|>\n<|im_start|>assistant\n"
    assert found.rows[0]["tokens"] > 5
    with pytest.raises(UsageError, match="no tokenizer is known here"):
        preview(whole, whole.datasets[0], None, texts=True)
