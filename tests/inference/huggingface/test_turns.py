"""Dialogues of three turns on local weights, killed in the middle."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from inference.answers import AnswerStore
from inference.huggingface.backend import HuggingFacewithChatTemplate
from inference.inferencers.gen import GenInferencer
from inference.stage import infer
from leaderflow.core.types import Answer, Request, Settings
from tests.inference.helpers import conversations, talk
from tests.inference.huggingface.conftest import spec

ROOT = Path(__file__).resolve().parents[3]
DIALOGUES, TURNS = 6, 3


class Watched(HuggingFacewithChatTemplate):
    """Notes what it is asked; after `stall_after` answers it says so and comes to a halt."""

    asked: list[Request]
    stall_after: int | None = None

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        for answer in super().generate(requests):
            self.asked.append(next(request for request in requests if request.request_key == answer.request_key))
            yield answer
            if len(self.asked) == self.stall_after:
                print("stalled", flush=True)
                time.sleep(600)


def run(folder: Path, root: Path, stall_after: int | None = None) -> tuple[list[dict[str, Any]], list[Request]]:
    """Return the rows, and the turns that were asked."""
    backend = Watched(spec(folder, type="HuggingFacewithChatTemplate", batch_size=2))
    backend.asked, backend.stall_after = [], stall_after
    table = conversations(*[talk(f"one {i}", "", f"two {i}", "", f"three {i}", "") for i in range(DIALOGUES)])
    try:
        answers = AnswerStore(root, backend.identity)
        return infer(table, GenInferencer(max_out_len=6, multiround=True), backend, answers, Settings()).to_pylist(), backend.asked
    finally:
        backend.close()


PROGRAM = """
import sys
from pathlib import Path
from tests.inference.huggingface.test_turns import run
run(Path(sys.argv[1]), Path(sys.argv[2]), stall_after=8)
"""


@pytest.mark.crash
def test_a_killed_dialogue_goes_on_at_the_turn(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(folder), str(tmp_path / "killed")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stalled\n"
        time.sleep(1.5)  # an answer is on the disk within a second
        process.send_signal(signal.SIGKILL)
    rows, asked = run(folder, tmp_path / "killed")
    whole, _ = run(folder, tmp_path / "whole")
    assert len(asked) == DIALOGUES * TURNS - 8
    assert [row["turns"] for row in rows] == [row["turns"] for row in whole]
    replies = {tuple(json.loads(row["turns"])) for row in rows}
    for request in asked:
        history = tuple(message["content"] for message in request.prompt.messages or () if message["role"] == "assistant")
        assert history in {turns[: len(history)] for turns in replies}  # the model's own answers
