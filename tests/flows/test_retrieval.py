"""Retrievers that ask a model, through a whole run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import SpecError
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, run

NEAREST: dict[str, Any] = {
    "infer_cfg.retriever": {"type": "TopkRetriever", "ice_num": 1},
    "infer_cfg.prompt_template.messages": ["</E>", {"role": "user", "content": "{question}"}],
    "infer_cfg.ice_template": {
        "type": "RawPromptTemplate",
        "messages": [{"role": "user", "content": "{question}"}, {"role": "assistant", "content": "{answer}"}],
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "data"
    place.mkdir()
    for split, rows in {"train": [("red apple", "1"), ("blue car", "2")], "test": [("green apple", "1"), ("old car", "2")]}.items():
        (place / f"{split}.jsonl").write_text("".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in rows))
    return place


def test_the_datasets_own_embedder_chooses_and_is_asked_once_for_a_text(server: FakeOpenAI, folder: Path, tmp_path: Path) -> None:
    embedder = {"type": "Scripted", "path": "words"}
    result = run(model(server), dataset(folder, **NEAREST, **{"infer_cfg.embedder": embedder}))
    assert result.cells[0].n == 2
    prompts = [body["messages"] for body in server.stats["bodies"]]
    assert {(p[0]["content"], p[-1]["content"]) for p in prompts} == {("red apple", "green apple"), ("blue car", "old car")}
    assert len(list((tmp_path / "store" / "embeddings").rglob("*.arrow"))) >= 1


def test_a_model_that_cannot_embed_is_refused_with_the_remedy(server: FakeOpenAI, folder: Path) -> None:
    with pytest.raises(SpecError, match=r"TopkRetriever needs a model that can embed; name one in infer_cfg\.embedder"):
        run(model(server), dataset(folder, **NEAREST))
