"""Caps of a whole run: nothing new leaves when one is reached, and the same command goes on with a higher one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.api import evaluate, plan
from flows.progress import Silent
from leaderflow.core.errors import SpecError
from leaderflow.core.paths import home
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, run, spec, write_questions

ROOT = Path(__file__).resolve().parents[2]

TOKENS = 25
"""Of one request to the fake server: 20 of the prompt and 5 of the answer."""

WINDOW = 8


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "questions.jsonl", range(200))


def priced(server: FakeOpenAI, **changes: object) -> dict[str, object]:
    home().mkdir(parents=True, exist_ok=True)
    (home() / "prices.yaml").write_text("models:\n  fake: {input: 1000, output: 4000, as_of: '2026-01-01'}\n")
    return model(server, batch_size=WINDOW, **changes)


def test_a_token_cap_stops_within_a_window_and_a_higher_one_goes_on(questions: Path, fake_openai: FakeOpenAI) -> None:
    fake_openai.script(reply="one two three four five")
    capped = run(model(fake_openai, batch_size=WINDOW), dataset(questions), max_tokens=50 * TOKENS, shard_size=50)
    assert (capped.state, capped.exit_code) == ("incomplete", 3)
    assert "the cap of 1,250 tokens (max_tokens) was reached" in capped.message
    assert 50 <= fake_openai.stats["requests"] <= 50 + WINDOW
    assert capped.cells[0].partial
    assert capped.requests["reused"] == 0
    higher = run(model(fake_openai, batch_size=WINDOW), dataset(questions), max_tokens=200 * TOKENS, shard_size=50)
    assert higher.state == "completed"
    assert fake_openai.stats["requests"] == 200
    assert higher.requests["reused"] == capped.requests["sent"]


def test_a_cost_cap(questions: Path, fake_openai: FakeOpenAI) -> None:
    fake_openai.script(reply="one two three four five")
    capped = run(priced(fake_openai), dataset(questions), max_cost=1.0)  # 0.04 USD a request
    assert capped.state == "incomplete"
    assert 25 <= fake_openai.stats["requests"] <= 25 + WINDOW
    assert capped.cost == pytest.approx(0.04 * fake_openai.stats["requests"])
    assert "cost cap of 1 USD" in capped.message


def test_a_cost_cap_needs_a_price(questions: Path, fake_openai: FakeOpenAI) -> None:
    with pytest.raises(SpecError, match=r"no price of fake is known; write it into .*prices\.yaml"):
        run(model(fake_openai), dataset(questions), max_cost=1.0)
    assert not fake_openai.stats["requests"]


def test_a_cap_needs_counts(questions: Path, fake_openai: FakeOpenAI) -> None:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}]}
    fake_openai.always({"json": body})
    capped = run(model(fake_openai, batch_size=WINDOW), dataset(questions), max_tokens=10**6)
    assert "reports no token counts" in capped.message
    assert fake_openai.stats["requests"] <= 1 + WINDOW


def test_a_time_cap_ends_the_waits_as_well(questions: Path, fake_openai: FakeOpenAI) -> None:
    begin = time.monotonic()
    capped = run(model(fake_openai, rpm=30), dataset(questions), max_time="2s")
    assert capped.state == "incomplete"
    assert "time cap of 2s" in capped.message
    assert fake_openai.stats["requests"] < 20
    assert time.monotonic() - begin < 30  # the rate alone would take some minutes
    with pytest.raises(SpecError, match="max_time"):
        run(model(fake_openai), dataset(questions), max_time="soon")


def test_a_rate_holds_over_any_period_for_all_cells(
    questions: Path, fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    period, rate = 3.0, 60
    monkeypatch.setattr("inference.api.limits.PERIOD_S", period)
    cells = [dataset(questions, abbr=name, **{"reader_cfg.test_range": f"[:{60 + n}]"}) for n, name in enumerate(("one", "two"))]
    for cell, word in zip(cells, ("First", "Second"), strict=True):
        cell["infer_cfg"]["prompt_template"]["messages"][0]["content"] = word + ": {question}"
    result = evaluate(spec([model(fake_openai, rpm=rate)], cells), server=False)
    times = sorted(fake_openai.stats["times"])
    assert result.state == "completed"
    assert len(times) == 121
    inside = [sum(start <= later < start + period * 0.95 for later in times) for start in times]
    assert rate * 0.7 < max(inside) <= rate


def test_backends_that_ask_one_by_one_stop_too(questions: Path) -> None:
    scripted = {"type": "Scripted", "abbr": "scripted", "path": "x", "arguments": {"reply": "a b c"}}
    capped = run(scripted, dataset(questions), max_tokens=30)
    assert capped.state == "incomplete"
    assert capped.requests["sent"] == 10
    assert capped.errors[0].rows == 190
    assert run(scripted, dataset(questions)).requests == {"sent": 190, "reused": 10, "prompt_tokens": 0, "output_tokens": 570}


class Lines(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)


def test_the_estimate_stands_before_the_start(questions: Path, fake_openai: FakeOpenAI) -> None:
    heard = Lines()
    evaluate(spec([priced(fake_openai)], [dataset(questions)], max_cost=1000.0), server=False, progress=heard)
    planned = plan(spec([priced(fake_openai)], [dataset(questions)]))
    assert heard.lines[0].startswith("estimate: 200 requests, about ")
    assert "at most 12,800 output tokens, at most " in heard.lines[0]
    assert heard.lines[0].endswith(" USD (prices of 2026-01-01)")
    assert (planned.to_ask, planned.cells[0].output_tokens) == (0, 0)


def test_doubtful_cells_are_named(questions: Path, fake_openai: FakeOpenAI) -> None:
    cut = run(model(fake_openai), dataset(questions, **{"infer_cfg.inferencer.max_out_len": 2}))
    (warning,) = cut.warnings
    assert warning.startswith("sums · fake: 100% of the answers hit the token limit (2)")
    assert warning.endswith("--set infer_cfg.inferencer.max_out_len=4")
    fake_openai.always("empty")
    (warning,) = run(model(fake_openai), dataset(questions, abbr="other")).warnings
    assert "100% of the answers are empty" in warning
    fake_openai.script(rules=[], reply="I would rather not say.")
    vague = dataset(questions, **{"infer_cfg.inferencer.max_out_len": 500, "eval_cfg.pred_postprocessor": {"type": "boxed"}})
    (warning,) = run(model(fake_openai), vague).warnings
    assert "100% of the answers state nothing that could be scored; `leaderflow show --unparsed`" in warning


@pytest.mark.crash
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c(times: int, questions: Path, tmp_path: Path, fake_openai: FakeOpenAI) -> None:
    fake_openai.script(latency=0.3)
    (tmp_path / "d.yaml").write_text(json.dumps(dataset(questions)))
    (tmp_path / "m.yaml").write_text(json.dumps(model(fake_openai, batch_size=WINDOW)))
    command = [sys.executable, "-m", "leaderflow", "run", "-m", "m.yaml", "-d", "d.yaml", "--no-server", "--json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while fake_openai.stats["requests"] < 3 * WINDOW:
        time.sleep(0.05)
    if times == 2:
        fake_openai.script(latency=60)
        time.sleep(0.5)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    out, err = process.communicate(timeout=60)
    asked = fake_openai.stats["requests"]
    assert process.returncode == (3, 130)[times - 1], err
    assert "Traceback" not in err
    if times == 1:
        assert json.loads(out)["state"] == "incomplete"
        assert "interrupted" in json.loads(out)["message"]
    fake_openai.script(latency=0.0)
    again = run(model(fake_openai), dataset(questions))
    assert again.state == "completed"
    assert fake_openai.stats["requests"] <= 200 + (0 if times == 1 else WINDOW)
    assert asked < 200
