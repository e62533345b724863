"""Whole runs with the store on an S3 server (moto)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from flows.answered import answered
from flows.api import plan
from inference.segments import Segment
from leaderflow.core import object_leases
from leaderflow.core.load import load_evaluation
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tasks.shared import store_id
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, expected_accuracy, model, run, spec, write_questions
from tests.s3 import Bucket, _s3_server, s3

__all__ = ["_s3_server", "s3"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "sums.jsonl", range(60))


@pytest.fixture
def place(s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store of everything below."""
    monkeypatch.setenv("LEADERFLOW_STORE", s3.uri())
    return s3.uri()


def cell(place: str | Path) -> dict[str, list[tuple[str, str]]]:
    """The keys and digests of the latest run's cell."""
    tables = Manifest.load(Store(place), "latest").cells["fake:sums"].tables
    return {name: [(ref.key, ref.digest) for ref in refs] for name, refs in tables.items()}


def test_a_run_is_the_same_wherever_its_store_lies(server: FakeOpenAI, file: Path, tmp_path: Path, s3: Bucket, place: str) -> None:
    there = run(model(server), dataset(file), shard_size=25)
    assert server.stats["requests"] == 60
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_STORE", str(tmp_path / "local"))
        here = run(model(server), dataset(file), shard_size=25)
    assert there.cells == here.cells
    assert there.cells[0].value == pytest.approx(expected_accuracy(60))
    assert cell(place) == cell(tmp_path / "local")
    again = run(model(server), dataset(file), shard_size=25)
    assert (again.requests["sent"], again.tasks["computed"]) == (0, 0)
    longer = run(model(server), dataset(write_questions(file, range(70))))
    assert longer.requests["sent"] == 10
    assert plan(spec([model(server)], [dataset(file)])).to_ask == 0
    assert longer.manifest == f"s3://{s3.name}/team/store/runs/{longer.run}/manifest.json"
    assert load_evaluation(longer.manifest).datasets == answered(Store(place), longer.run).datasets


def test_every_command_reads_it(server: FakeOpenAI, file: Path, place: str) -> None:
    first = run(model(server), dataset(file), suite="nightly")
    second = run(model(server, generation_kwargs={"temperature": 0.5}), dataset(file), suite="nightly")
    key = Manifest.load(Store(place), first.run).cells["fake:sums"].tables["scores"][0].key
    other = Manifest.load(Store(place), second.run).cells["fake:sums"].tables["scores"][0].key
    said = {
        ("runs",): second.run,
        ("show", first.run, "--wrong", "-n", "1"): "· wrong",
        ("trace", "latest", "fake:sums"): "artifacts/score/",
        ("why", key[:12], other[:12]): "parents",
        ("compare", first.run, "latest"): "no difference shown",
        ("history", "fake", "--suite", "nightly"): first.run,
        ("sql", "SELECT count(*) AS n, sum(score) AS s FROM samples WHERE extracted IS NOT NULL"): "120",
        ("rescore", first.run, "--no-server"): "0 requests sent",
        ("run", second.manifest or "", "--no-server"): "0 requests sent",
    }
    done = in_one_process([list(arguments) for arguments in said])
    for (arguments, expected), (code, out) in zip(said.items(), done, strict=True):
        assert (code, expected in out) == (0, True), (arguments, out)


def in_one_process(commands: list[list[str]]) -> list[tuple[int, str]]:
    """Run commands of the command line in one new process; return the exit code and the output of each."""
    program = """
import contextlib, io, json, sys
from leaderflow.cli.main import main
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:], out = arguments, io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([code, out.getvalue()]))
"""
    command = [sys.executable, "-W", "error", "-c", program, json.dumps(commands)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("wrong", ["bucket", "scheme", "endpoint"])
def test_a_store_that_cannot_be_used_is_told_before_anything_is_asked(
    server: FakeOpenAI, file: Path, tmp_path: Path, s3: Bucket, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    login = "some-id:some-secret@"
    places = {
        "bucket": (s3.uri(bucket="no-such-bucket", login=login), "there is no such bucket"),
        "scheme": (f"ftp://{login}host/x", "its scheme is unknown"),
        "endpoint": (Bucket("127.0.0.1:9", "bucket").uri(login=login), "nothing answers there"),
    }
    uri, why = places[wrong]
    monkeypatch.setenv("LEADERFLOW_STORE", uri)
    written = tmp_path / "spec.json"
    written.write_text(json.dumps({"models": [model(server)], "datasets": [dataset(file)]}))
    [(code, out)] = in_one_process([["run", str(written), "--no-server"]])
    assert code == 1
    assert len(out.splitlines()) == 1
    assert why in out
    assert "some-" not in out
    assert server.stats["requests"] == 0


def stored(place: str) -> set[str]:
    """The keys of all answers in the store."""
    segments = [Segment(path) for path in Store(place).files.mirror("answers") if path.suffix == ".arrows"]
    return {key for segment in segments for key in segment.keys.to_pylist()}


KILLED = """
import sys
from inference import segment_writer
from leaderflow.cli.main import main
segment_writer.OBJECT_FLUSH_S = 0.5
main()
"""


@pytest.mark.crash
def test_a_killed_run_asks_again_only_what_was_not_flushed(
    server: FakeOpenAI, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("EXPIRES_S", 3.0), ("RENEW_S", 0.5), ("POLL_S", 0.1)):
        monkeypatch.setattr(object_leases, name, value)
    server.script(latency=0.2)
    samples, in_flight = 600, 32
    file = write_questions(tmp_path / "sums.jsonl", range(samples))
    blocks: dict[str, Any] = {"models": [model(server, batch_size=in_flight)], "datasets": [dataset(file)], "shard_size": 300}
    written = tmp_path / "spec.json"
    written.write_text(json.dumps(blocks))
    command = [sys.executable, "-c", KILLED, "run", str(written), "--no-server"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(stored(place)) < 20:
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = len(stored(place))
    result = run(blocks["models"][0], blocks["datasets"][0], shard_size=300)
    assert result.cells[0].value == pytest.approx(expected_accuracy(samples))
    assert 0 < result.requests["sent"] <= samples - there
    assert Manifest.load(Store(place), "latest~1").state == "crashed"


def test_two_runs_at_once_ask_everything_once(server: FakeOpenAI, file: Path, place: str) -> None:
    server.script(latency=0.1)
    program = "import sys; from leaderflow.cli.main import main; main()"
    written = file.with_name("spec.json")
    written.write_text(json.dumps({"models": [model(server)], "datasets": [dataset(file)], "shard_size": 20}))
    command = [sys.executable, "-c", program, "run", str(written), "--no-server"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = []
    threads = [
        threading.Thread(target=lambda size=size: found.append(run(model(server), dataset(file), shard_size=size)))
        for size in (20, 35)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait(120) == 0
    assert server.stats["requests"] == 60
    assert [result.state for result in found] == ["completed", "completed"]


def test_a_store_has_one_id_whoever_asks(s3: Bucket) -> None:
    assert store_id(Store(s3.uri())) == store_id(Store(s3.uri())) != store_id(Store(s3.uri("another")))
