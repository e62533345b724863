from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from inference.answers import AnswerStore
from inference.inferencers.gen import GenInferencer
from inference.stage import capabilities, check_model, defaults, infer, open_backend
from leaderflow.core.artifacts import OUTPUTS
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.identity import table_digest
from leaderflow.core.types import Answer, Backend, Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import model, prompts

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def session(server: FakeOpenAI, root: Path, **fields: Any) -> Iterator[tuple[Backend, AnswerStore]]:
    backend = open_backend(model(server.base_url, **fields))
    try:
        yield backend, AnswerStore(root, backend.identity)
    finally:
        backend.close()


def run(
    server: FakeOpenAI, root: Path, questions: list[str], *, fresh: bool = False, gen: dict[str, Any] | None = None, **fields: Any
) -> pa.Table:
    with session(server, root, **fields) as (backend, answers):
        return infer(prompts(questions), GenInferencer(**(gen or {})), backend, answers, Settings(), fresh=fresh)


QUESTIONS = [f"question {i}" for i in range(20)]


def test_outputs_stand_in_prompt_order(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(reply="{prompt}!", rules=[{"replies": [{"delay": 0.2}], "contains": "question 0"}])
    table = run(fake_openai, tmp_path, QUESTIONS, gen={"repeats": 2})
    assert table.schema == OUTPUTS
    assert table["sample_id"].to_pylist() == [f"s{i}" for i in range(20) for _ in range(2)]
    assert table["repeat"].to_pylist() == [0, 1] * 20
    assert table["output"].to_pylist() == [f"{q}!" for q in QUESTIONS for _ in range(2)]


def test_nothing_is_asked_twice(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    first = run(fake_openai, tmp_path, QUESTIONS)
    assert run(fake_openai, tmp_path, QUESTIONS).equals(first)
    assert fake_openai.stats["requests"] == 20
    run(fake_openai, tmp_path, [*QUESTIONS, "one more", "and another"])
    assert fake_openai.stats["requests"] == 22
    run(fake_openai, tmp_path, QUESTIONS, gen={"repeats": 4})
    assert fake_openai.stats["requests"] == 22 + 60
    run(fake_openai, tmp_path, QUESTIONS, gen={"temperature": 0.5})
    assert fake_openai.stats["requests"] == 22 + 60 + 20


def test_another_port_is_another_model_unless_a_revision_says_no(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    other = FakeOpenAI()
    try:
        for fields, asked in (({}, 20), ({"revision": "1"}, 0)):
            here = run(fake_openai, tmp_path, QUESTIONS, **fields)
            other.reset()
            there = run(other, tmp_path, QUESTIONS, **fields)
            assert other.stats["requests"] == asked
            assert (table_digest(here) == table_digest(there)) == (asked == 0)
    finally:
        other.stop()


def test_fresh_asks_again_but_not_what_this_session_asked(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    run(fake_openai, tmp_path, QUESTIONS)
    fake_openai.script(reply="new")
    with session(fake_openai, tmp_path) as (backend, answers):
        for _ in range(2):
            table = infer(prompts(QUESTIONS), GenInferencer(), backend, answers, Settings(), fresh=True)
    assert set(table["output"].to_pylist()) == {"new"}
    assert fake_openai.stats["requests"] == 40
    assert run(fake_openai, tmp_path, QUESTIONS).equals(table)


def test_unanswered_rows_are_errors_and_asked_again(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.always("server_error", contains="question 7")
    row = run(fake_openai, tmp_path, QUESTIONS, retries=1).slice(7, 1).to_pylist()[0]
    assert (row["status"], row["output"], row["error"], row["error_class"], row["attempts"]) == (
        "error",
        None,
        "HTTP 500: boom",
        "retryable",
        2,
    )
    fake_openai.heal()
    fake_openai.reset()
    table = run(fake_openai, tmp_path, QUESTIONS)
    assert set(table["status"].to_pylist()) == {"ok"}
    assert fake_openai.stats["attempts"] == {"question 7": 1}


@pytest.mark.parametrize("fault", ["error_in_200", "malformed", "empty_choices", "html", "cut"])
def test_no_wrong_answer_is_ever_stored(fake_openai: FakeOpenAI, tmp_path: Path, fault: str) -> None:
    fake_openai.always(fault)
    assert run(fake_openai, tmp_path, ["q"], retries=0)["status"].to_pylist() == ["error"]
    fake_openai.always({"content": "Answer: B"})
    assert run(fake_openai, tmp_path, ["q"])["output"].to_pylist() == ["Answer: B"]


@pytest.mark.parametrize(
    ("fault", "status"), [("null_reasoning", "truncated"), ("content_filter", "filtered"), ("context_length", "rejected")]
)
def test_final_states_are_not_asked_again(fake_openai: FakeOpenAI, tmp_path: Path, fault: str, status: str) -> None:
    fake_openai.always(fault)
    for _ in range(2):
        assert run(fake_openai, tmp_path, ["q"])["status"].to_pylist() == [status]
    assert fake_openai.stats["requests"] == 1


def test_rejected_rows_are_not_asked_and_keep_their_reason(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    with session(fake_openai, tmp_path) as (backend, answers):
        rendered = pa.concat_tables([prompts(["a"]), prompts(["b"], status="rejected", error="too long"), prompts(["c"])])
        rows = infer(rendered, GenInferencer(repeats=2), backend, answers, Settings()).to_pylist()
    assert [row["status"] for row in rows] == ["ok", "ok", "rejected", "rejected", "ok", "ok"]
    assert (rows[2]["error"], rows[2]["output"], rows[2]["request_key"]) == ("too long", None, None)
    assert fake_openai.stats["requests"] == 4


def test_progress_hears_of_new_answers_only(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    heard: list[Answer] = []
    with session(fake_openai, tmp_path) as (backend, answers):
        for questions in (QUESTIONS[:5], QUESTIONS):
            infer(prompts(questions), GenInferencer(), backend, answers, Settings(), on_answer=heard.append)
    assert len(heard) == 20


def test_two_runs_at_once_ask_everything_once(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(latency=0.05)
    tables: list[pa.Table] = []
    threads = [threading.Thread(target=lambda: tables.append(run(fake_openai, tmp_path, QUESTIONS))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert fake_openai.stats["requests"] == 20


def test_runs_that_share_some_rows_ask_them_once(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(latency=0.1)
    parts = (QUESTIONS[:12], QUESTIONS[8:], QUESTIONS[::-1], QUESTIONS[5:6])
    threads = [threading.Thread(target=run, args=(fake_openai, tmp_path, part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fake_openai.stats["attempts"] == dict.fromkeys(QUESTIONS, 1)


def test_processes_exclude_each_other_too(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(latency=0.05)
    running = [subprocess.Popen([sys.executable, "-c", PROGRAM, fake_openai.base_url, str(tmp_path)], cwd=ROOT) for _ in range(2)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert fake_openai.stats["requests"] == 1000


def test_what_was_answered_before_the_end_is_stored(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(rules=[{"replies": [{"delay": 0.5, "status": 401, "json": {"error": "no"}}], "contains": "question 19"}])
    with pytest.raises(BackendError):
        run(fake_openai, tmp_path, QUESTIONS)
    fake_openai.heal()
    fake_openai.reset()
    run(fake_openai, tmp_path, QUESTIONS)
    assert fake_openai.stats["attempts"] == {"question 19": 1}


PROGRAM = """
import sys
from pathlib import Path
from inference.answers import AnswerStore
from inference.inferencers.gen import GenInferencer
from inference.stage import infer, open_backend
from leaderflow.core.types import Settings
from tests.inference.helpers import model, prompts
backend = open_backend(model(sys.argv[1], revision="1", batch_size=16))
rendered = prompts([f"question {i}" for i in range(1000)])
infer(rendered, GenInferencer(), backend, AnswerStore(sys.argv[2], backend.identity), Settings())
backend.close()
"""


@pytest.mark.crash
def test_a_killed_run_pays_only_for_what_was_in_flight(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(latency=0.05)
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, fake_openai.base_url, str(tmp_path)], cwd=ROOT)
    while fake_openai.stats["requests"] < 500:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    per_second = 16 / 0.05
    questions = [f"question {i}" for i in range(1000)]
    resumed = run(fake_openai, tmp_path, questions, revision="1", batch_size=16)
    assert set(resumed["status"].to_pylist()) == {"ok"}
    assert 1000 <= fake_openai.stats["requests"] <= 1000 + 16 + per_second
    undisturbed = run(fake_openai, tmp_path / "other", questions, revision="1", batch_size=16)
    assert table_digest(undisturbed) == table_digest(resumed)


REFUSED = """
import sys
from inference.answers import AnswerStore
from inference.inferencers.gen import GenInferencer
from inference.stage import infer, open_backend
from leaderflow.core.errors import BackendError
from leaderflow.core.types import Settings
from tests.inference.helpers import model, prompts
backend = open_backend(model(sys.argv[1], batch_size=16))
rendered = prompts([f"question {i}" for i in range(500)])
try:
    infer(rendered, GenInferencer(), backend, AnswerStore(sys.argv[2], backend.identity), Settings())
except BackendError as exc:
    print(exc)
"""


def test_a_refused_run_ends_cleanly_even_if_nobody_closes_the_model(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(latency=0.05)
    fake_openai.always("unauthorized")
    command = [sys.executable, "-W", "error", "-c", REFUSED, fake_openai.base_url, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("m: HTTP 401: Incorrect API key provided.; give a key by")
    assert done.stderr == ""
    assert fake_openai.stats["requests"] <= 16


def test_the_inferencer_block_beats_the_model_block() -> None:
    block = model(max_out_len=100, generation_kwargs={"temperature": 1.0, "min_p": 0.1, "stop": "END"})
    assert defaults(block, {"type": "GenInferencer"}) == Settings(
        max_out_len=100, temperature=1.0, stop=("END",), extra={"min_p": 0.1}
    )
    own = defaults(block, {"type": "GenInferencer", "max_out_len": 7, "temperature": 0.0})
    assert (own.max_out_len, own.temperature) == (7, 0.0)


def test_a_meta_template_ends_the_models_turn() -> None:
    roles = [{"role": "HUMAN", "begin": "<h>", "end": "<eoh>"}, {"role": "BOT", "begin": "<b>", "end": "<eob>\n", "generate": True}]
    block = model(meta_template={"round": roles}, generation_kwargs={"stop": ["X"]})
    assert defaults(block, {"type": "GenInferencer", "stopping_criteria": ["Y"]}).stop == ("<eob>", "X", "Y")
    roles[1]["end"] = "\n"
    assert defaults(model(meta_template={"round": roles}), {"type": "GenInferencer"}).stop == ()
    assert defaults(model(meta_template=[{"role": "system", "content": "S"}]), {"type": "GenInferencer"}).stop == ()


def test_a_limit_that_fills_the_context_is_refused() -> None:
    with pytest.raises(SpecError, match="max_out_len 8192 leaves no room in max_seq_len 4096"):
        defaults(model(max_seq_len=4096, max_out_len=8192), {"type": "GenInferencer"})


def test_capabilities_are_known_without_connecting() -> None:
    assert capabilities(model()) == {"messages", "generate", "tools"}
    assert capabilities(model(arguments={"route": "responses"})) == {"messages", "generate"}
    assert capabilities(model(arguments={"route": "completions"})) >= {"text", "generate"}


def test_unknown_arguments_of_a_model_are_refused() -> None:
    with pytest.raises(SpecError, match=r"models\.m: OpenAISDK has no argument 'extra_bodi'; did you mean 'extra_body'"):
        check_model(model(arguments={"extra_bodi": {}}))
    with pytest.raises(SpecError, match="unknown model type 'OpenAISKD'"):
        check_model(model(type="OpenAISKD"))
    check_model(model(arguments={"extra_body": {}}))
