from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from inference.answers import AnswerStore
from inference.inferencers.gen import GenInferencer
from inference.stage import infer, open_backend
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import conversations, model, prompts, talk

ROOT = Path(__file__).resolve().parents[2]


def run(server: FakeOpenAI, root: Path, table: pa.Table, **fields: Any) -> list[dict[str, Any]]:
    backend = open_backend(model(server.base_url, revision="1", **fields))
    try:
        found = infer(table, GenInferencer(multiround=True), backend, AnswerStore(root, backend.identity), Settings()).to_pylist()
        return found
    finally:
        backend.close()


def test_each_turn_has_the_models_own_answers_before_it(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(reply="re {prompt}")
    [row] = run(fake_openai, tmp_path, conversations(talk("one", "", "two", "", "three", "", system="S")))
    assert [[m["content"] for m in body["messages"]] for body in fake_openai.stats["bodies"]] == [
        ["S", "one"],
        ["S", "one", "re one", "two"],
        ["S", "one", "re one", "two", "re two", "three"],
    ]
    assert (row["status"], row["output"], row["turns"]) == ("ok", "re three", '["re one", "re two", "re three"]')
    assert (row["output_tokens"], row["attempts"]) == (6, 3)


def test_turns_of_the_data_stay_and_are_listed(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(reply="re {prompt}")
    [row] = run(fake_openai, tmp_path, conversations(talk("one", "given", "two", "")))
    assert row["turns"] == '["given", "re two"]'


def test_a_conversation_without_a_slot_gets_one_reply(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(reply="re {prompt}")
    [row] = run(fake_openai, tmp_path, conversations(talk("one")))
    assert (row["output"], row["turns"]) == ("re one", '["re one"]')


def test_an_empty_reply_is_a_turn(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(reply="re", rules=[{"replies": ["empty"], "contains": "one"}])
    [row] = run(fake_openai, tmp_path, conversations(talk("one", "", "two", "")))
    assert row["turns"] == '["", "re"]'
    assert fake_openai.stats["requests"] == 2


def test_a_failing_turn_ends_its_conversation_and_is_asked_again(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(reply="re {prompt}", rules=[{"replies": ["bad_request"], "contains": "two b"}])
    table = conversations(talk("one a", "", "two a", "", "three a", ""), talk("one b", "", "two b", "", "three b", ""))
    good, bad = run(fake_openai, tmp_path, table)
    assert (good["status"], bad["status"], bad["error_class"]) == ("ok", "error", "sample")
    assert "three b" not in fake_openai.stats["attempts"]
    fake_openai.heal()
    fake_openai.reset()
    good, bad = run(fake_openai, tmp_path, table)
    assert (good["status"], bad["status"], bad["output"]) == ("ok", "ok", "re three b")
    assert fake_openai.stats["attempts"] == {"two b": 1, "three b": 1}


def test_one_truncated_turn_marks_the_conversation(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(rules=[{"replies": ["length"], "contains": "one"}])
    [row] = run(fake_openai, tmp_path, conversations(talk("one", "", "two", "")))
    assert row["status"] == "truncated"


def test_plain_text_is_refused() -> None:
    table = prompts(["q"])
    text = table.set_column(table.schema.get_field_index("messages"), "messages", pa.array([None], pa.string()))
    text = text.set_column(text.schema.get_field_index("text"), "text", pa.array(["q"], pa.string()))
    with pytest.raises(SpecError, match="multiround needs chat messages"):
        GenInferencer(multiround=True).requests(text, "m", Settings())


PROGRAM = """
import sys
from pathlib import Path
from tests.inference.test_turns import *
server = type("Server", (), {"base_url": sys.argv[1]})
run(server, Path(sys.argv[2]), forty(), batch_size=8)
"""


def forty() -> pa.Table:
    return conversations(*[talk(f"one {i}", "", f"two {i}", "", f"three {i}", "") for i in range(40)])


@pytest.mark.crash
def test_a_killed_run_goes_on_at_the_turn(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(latency=0.1, reply="re {prompt}")
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, fake_openai.base_url, str(tmp_path)], cwd=ROOT)
    while fake_openai.stats["requests"] < 60:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    rows = run(fake_openai, tmp_path, forty(), batch_size=8)
    assert [row["output"] for row in rows] == [f"re three {i}" for i in range(40)]
    attempts = fake_openai.stats["attempts"]
    assert sum(attempts.values()) <= 120 + 8 + 80  # in flight, and one second of answers
    assert all(attempts[f"three {i}"] == 1 for i in range(30))
