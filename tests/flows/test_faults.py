"""Every fault a server can show, through the whole pipeline: each sample ends in its status, and no wrong answer is recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flows.result import RunResult
from leaderflow.core.artifacts import rows_of
from leaderflow.core.manifest import Manifest
from leaderflow.core.paths import store_uri
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, merged, model, question, run, write_questions

ROOT = Path(__file__).resolve().parents[2]

FAULTS: dict[str, tuple[list[str], str]] = {
    "busy": (["rate_limit", "ok"], "ok"),
    "busy, come back": (["rate_limit_ms", "ok"], "ok"),
    "busy, come back in a second": (["rate_limit_seconds", "ok"], "ok"),
    "overloaded": (["overloaded", "ok"], "ok"),
    "server error": (["server_error", "ok"], "ok"),
    "gateway page": (["gateway_page", "ok"], "ok"),
    "reset": (["reset", "ok"], "ok"),
    "cut": (["cut", "ok"], "ok"),
    "malformed": (["malformed", "ok"], "ok"),
    "empty choices": (["empty_choices", "ok"], "ok"),
    "wrong content type": (["html", "ok"], "ok"),
    "error in a good reply": (["error_in_200", "ok"], "ok"),
    "hang": (["hang", "ok"], "ok"),
    "empty body": (["nothing", "ok"], "ok"),
    "no content": (["no_content", "ok"], "ok"),
    "broken gzip": (["gzip", "ok"], "ok"),
    "wrong charset": (["latin", "ok"], "ok"),
    "a stream that nobody asked for": (["stream", "ok"], "ok"),
    "a number for a text": (["number", "ok"], "ok"),
    "chunks that end early": (["chunk", "ok"], "ok"),
    "a byte now and then": (["drip", "ok"], "ok"),
    "two choices": (["two_choices"], "ok"),
    "unknown finish reason": (["odd_reason"], "ok"),
    "no usage": (["no_usage"], "ok"),
    "always malformed": (["malformed"], "error"),
    "always in a wrong charset": (["latin"], "error"),
    "always a page": (["html"], "error"),
    "always an error in a good reply": (["error_code_in_200"], "error"),
    "always resetting": (["reset"], "error"),
    "bad request": (["bad_request"], "error"),
    "too long": (["context_length"], "rejected"),
    "filtered": (["content_filter"], "filtered"),
    "filtered reply": (["filtered_reply"], "filtered"),
    "cut by the limit": (["length"], "truncated"),
    "says nothing": (["empty"], "ok"),
}
"""What befalls a question → the replies in order, and the status it must end with."""

GOOD = 40


def outputs(result: RunResult) -> pa.Table:
    store = Store(store_uri())
    (cell,) = Manifest.load(store, result.run).cells.values()
    return pa.concat_tables([store.read(ref) for ref in cell.tables["outputs"]])


def by_question(result: RunResult) -> dict[str, dict[str, Any]]:
    store = Store(store_uri())
    (cell,) = Manifest.load(store, result.run).cells.values()
    asked = {sample_id: row["question"] for sample_id, row in rows_of(store.read(cell.tables["samples"][0]))}
    return {asked[row["sample_id"]]: row for row in outputs(result).to_pylist()}


def test_every_fault_ends_in_its_status(tmp_path: Path, fake_openai: FakeOpenAI) -> None:
    rows = [{"question": f"<{name}> 1 + 1", "answer": "2"} for name in FAULTS]
    rows += [{"question": f"good number {n}", "answer": "2"} for n in range(GOOD)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rules = [{"replies": replies, "contains": f"<{name}>"} for name, (replies, _) in FAULTS.items()]
    fake_openai.script(rules=rules, reply="The answer is 2")
    begin = time.monotonic()
    block = model(fake_openai, retries=2, timeout=3.0, batch_size=16)
    result = run(block, dataset(tmp_path / "d.jsonl"), shard_size=25)
    found = by_question(result)
    assert {name: found[f"<{name}> 1 + 1"]["status"] for name in FAULTS} == {name: status for name, (_, status) in FAULTS.items()}
    for asked, row in found.items():
        said = {"ok": ["The answer is 2", ""], "truncated": ["Okay, option A says"]}.get(row["status"], [None, ""])
        assert row["output"] in said, asked
    failed = sum(status == "error" for _, status in FAULTS.values())
    assert (result.state, result.exit_code) == ("incomplete", 3)
    counts = result.cells[0]
    assert (counts.n, counts.n_failed) == (len(rows), failed)
    assert (counts.n_rejected, counts.n_filtered, counts.n_truncated) == (1, 2, 1)
    right = sum(status == "ok" and replies != ["empty"] for replies, status in FAULTS.values())
    assert counts.value == pytest.approx(100 * (GOOD + right) / (len(rows) - failed))
    assert time.monotonic() - begin < 120
    fake_openai.script(rules=[])
    fake_openai.reset()
    again = run(block, dataset(tmp_path / "d.jsonl"), shard_size=25)
    assert again.state == "completed"
    assert fake_openai.stats["requests"] == failed


DIALOGUE = "from tests.flows.test_faults import three_turns; import sys; three_turns(sys.argv[1], sys.argv[2])"


def three_turns(file: str, base_url: str) -> RunResult:
    """Ask dialogues of three turns, one after the other."""
    messages = [{"role": "user", "content": "{question}"}]
    for later in ("And times two?", "And minus one?"):
        messages += [{"role": "assistant", "content": ""}, {"role": "user", "content": later + " ({question})"}]
    messages.append({"role": "assistant", "content": ""})
    block = dataset(Path(file), **{"infer_cfg.inferencer": {"type": "GenInferencer", "max_out_len": 64, "multiround": True}})
    block["infer_cfg"]["prompt_template"] = {"type": "RawPromptTemplate", "messages": messages}
    block["eval_cfg"] = {"evaluator": {"type": "AllCorrect", "group": ["question"]}}
    server = type("Server", (), {"base_url": base_url})
    return run(merged(model(server, batch_size=4), {}), block)  # type: ignore[arg-type]


@pytest.mark.crash
def test_a_dialogue_killed_in_the_middle_goes_on_at_the_turn(tmp_path: Path, fake_openai: FakeOpenAI) -> None:
    file = write_questions(tmp_path / "d.jsonl", range(24))
    fake_openai.script(latency=0.25, reply="{number}")
    command = [sys.executable, "-c", DIALOGUE, str(file), fake_openai.base_url]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.DEVNULL) as process:
        while fake_openai.stats["requests"] < 40:
            time.sleep(0.05)
        time.sleep(1.2)
        process.send_signal(signal.SIGKILL)
    fake_openai.script(latency=0.0)
    result = three_turns(str(file), fake_openai.base_url)
    stats = fake_openai.stats
    assert result.state == "completed"
    assert stats["requests"] <= 24 * 3 + 4 + 20  # what was in flight, and about a second of answers; a new start would cost 40
    for body in stats["bodies"]:
        said = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
        assert all(text.isdigit() for text in said)  # the model's own answers, never an empty slot
    row = outputs(result).to_pylist()[0]
    turns = json.loads(row["turns"])
    final = next(b for b in stats["bodies"] if len(b["messages"]) == 5 and question(0) == b["messages"][0]["content"])
    assert [message["content"] for message in final["messages"] if message["role"] == "assistant"] == turns[:2]
