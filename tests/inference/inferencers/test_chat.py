from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inference.answers import AnswerStore
from inference.inferencers.chat import ChatInferencer
from inference.stage import infer, open_backend
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import conversations, model, talk

DIALOGUE = talk("one", "gold 1", "two", "gold 2")


def run(server: FakeOpenAI, root: Path, mode: Any) -> tuple[dict[str, Any], list[list[str]]]:
    server.script(reply="re {prompt}")
    backend = open_backend(model(server.base_url))
    try:
        store = AnswerStore(root, backend.identity)
        [row] = infer(conversations(DIALOGUE), ChatInferencer(mode), backend, store, Settings()).to_pylist()
    finally:
        backend.close()
    return row, [[m["content"] for m in body["messages"]] for body in server.stats["bodies"]]


@pytest.mark.parametrize(
    ("mode", "asked", "turns"),
    [
        ("last", [["one", "gold 1", "two"]], None),
        ("every", [["one"], ["one", "re one", "two"]], ["re one", "re two"]),
        ("every_with_gt", [["one"], ["one", "gold 1", "two"]], ["re one", "re two"]),
    ],
)
def test_modes(fake_openai: FakeOpenAI, tmp_path: Path, mode: str, asked: list[list[str]], turns: list[str] | None) -> None:
    row, bodies = run(fake_openai, tmp_path, mode)
    assert bodies == asked
    assert (row["status"], row["output"]) == ("ok", "re two")
    assert json.loads(row["turns"] or "null") == turns


def test_modes_share_no_answers() -> None:
    keys = {
        ChatInferencer(mode).requests(conversations(DIALOGUE), "m", Settings())[0].request_key
        for mode in ("last", "every", "every_with_gt")
    }
    assert len(keys) == 3


def test_an_unknown_mode() -> None:
    with pytest.raises(SpecError, match="infer_mode: must be one of last, every, every_with_gt, got 'all'"):
        ChatInferencer("all")  # type: ignore[arg-type]
