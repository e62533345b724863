from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from inference.answers import AnswerStore, folder_name, seconds
from inference.segments import BATCH_ROWS, Segment, merge
from leaderflow.core.errors import SpecError, StoreError
from leaderflow.core.types import Answer

ROOT = Path(__file__).resolve().parents[2]

FULL = Answer(
    "full",
    "truncated",
    output="a\u2028b \U0001f680",
    reasoning="",
    turns=("x", "y"),
    nll=1.5,
    scored_tokens=2,
    token_logprobs=(-1.0, -0.5),
    finish_reason="length",
    prompt_tokens=3,
    output_tokens=4,
    reasoning_tokens=1,
    reasoning_counted="reported",
    latency_s=0.25,
    attempts=2,
    error="e",
    error_class="sample",
)


def write(store: AnswerStore, *answers: Answer) -> None:
    with store.writer() as writer:
        for answer in answers:
            writer.add(answer)


def numbered(start: int, stop: int) -> list[Answer]:
    return [Answer(f"k{i}", "ok", output=f"text {i}") for i in range(start, stop)]


def segments(root: Path, store: AnswerStore) -> list[Path]:
    return sorted((root / store.folder).glob("*.arrow*"))


def test_every_field_comes_back(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    write(store, FULL, Answer("bare", "ok"))
    assert AnswerStore(tmp_path, "m").get(["full", "bare", "absent"]) == {"full": FULL, "bare": Answer("bare", "ok")}


def test_segments_of_an_earlier_schema_are_read_and_merged(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    write(store, FULL)
    (file,) = segments(tmp_path, store)
    with pa.ipc.open_stream(file) as reader:
        old = reader.read_all().drop_columns(["reasoning_tokens", "reasoning_counted"])
    file.unlink()
    with pa.ipc.new_stream(file, old.schema) as writer:
        writer.write_table(old)
    earlier = replace(FULL, reasoning_tokens=None, reasoning_counted=None)
    assert AnswerStore(tmp_path, "m").get(["full"]) == {"full": earlier}
    with (tmp_path / "merged.arrow").open("wb") as out:
        merge([file], out)
    assert list(Segment(tmp_path / "merged.arrow").rows([0])) == [earlier]


def test_errors_never_enter_and_final_states_do(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    states = ("ok", "truncated", "filtered", "rejected", "error")
    write(store, *[Answer(state, state) for state in states])
    assert set(store.get(states)) == set(states) - {"error"}


def test_models_do_not_share(tmp_path: Path) -> None:
    write(AnswerStore(tmp_path, "one"), Answer("k", "ok"))
    assert AnswerStore(tmp_path, "two").get(["k"]) == {}


def test_the_later_answer_wins_across_segments_and_within_one(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    write(store, Answer("k", "ok", output="1"), Answer("k", "ok", output="2"))
    assert store.get(["k"])["k"].output == "2"
    write(store, Answer("k", "ok", output="3"))
    assert store.get(["k"])["k"].output == "3"
    store.compact(above=0)
    assert AnswerStore(tmp_path, "m").get(["k"])["k"].output == "3"


def test_old_answers_are_not_seen(tmp_path: Path) -> None:
    write(AnswerStore(tmp_path, "m"), Answer("k", "ok"))
    time.sleep(0.05)
    assert AnswerStore(tmp_path, "m", max_age=0.01).get(["k"]) == {}
    assert set(AnswerStore(tmp_path, "m", max_age=60).get(["k"])) == {"k"}


def test_since_hides_what_was_stored_before(tmp_path: Path) -> None:
    write(AnswerStore(tmp_path, "m"), Answer("old", "ok"))
    store = AnswerStore(tmp_path, "m")
    write(store, Answer("new", "ok"))
    assert set(store.get(["old", "new"], since=store.opened_at)) == {"new"}


def test_an_open_store_sees_what_others_add(tmp_path: Path) -> None:
    reader, other = AnswerStore(tmp_path, "m"), AnswerStore(tmp_path, "m")
    with other.writer() as writer:
        for answer in numbered(0, 3):
            writer.add(answer)
            writer.flush()
            assert answer.request_key in reader.get([answer.request_key])


def test_answers_reach_the_disk_without_a_flush(tmp_path: Path) -> None:
    store, reader = AnswerStore(tmp_path, "m"), AnswerStore(tmp_path, "m")
    with store.writer() as writer:
        writer.add(Answer("k", "ok"))
        deadline = time.monotonic() + 20
        while not reader.get(["k"]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert reader.get(["k"])


@pytest.mark.parametrize("lost", [1, 7, 64, 200])
def test_a_torn_tail_is_left_out_with_a_warning(tmp_path: Path, lost: int, caplog: pytest.LogCaptureFixture) -> None:
    store = AnswerStore(tmp_path, "m")
    with store.writer() as writer:
        writer.add(Answer("whole", "ok", output="x" * 100))
        writer.flush()
        writer.add(Answer("torn", "ok", output="".join(map(str, range(500)))))
    [path] = segments(tmp_path, store)
    end_of_stream = 8
    os.truncate(path, path.stat().st_size - end_of_stream - lost)
    assert set(AnswerStore(tmp_path, "m").get(["whole", "torn"])) == {"whole"}
    assert "ends in the middle" in caplog.text


def test_an_empty_or_headless_segment_holds_nothing(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    write(store, Answer("k", "ok"))
    (tmp_path / store.folder / "0-empty.arrows").write_bytes(b"")
    (tmp_path / store.folder / "1-headless.arrows").write_bytes(b"\xff\xff\xff\xff\x10")
    assert set(AnswerStore(tmp_path, "m").get(["k"])) == {"k"}


def test_compaction_keeps_everything_and_leaves_live_segments_alone(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    for start in range(0, 3 * BATCH_ROWS, BATCH_ROWS):
        write(store, *numbered(start, start + BATCH_ROWS))
    keys = [f"k{i}" for i in range(3 * BATCH_ROWS)]
    before = store.get(keys)
    with store.writer() as writer:
        writer.add(Answer("live", "ok"))
        writer.flush()
        AnswerStore(tmp_path, "m").compact(above=1)
        assert [path.suffix for path in segments(tmp_path, store)] == [".arrows", ".arrow"]
        assert store.get(keys) == before
        assert len(before) == len(keys)
        writer.add(Answer("later", "ok"))
    assert set(AnswerStore(tmp_path, "m").get(["live", "later", "k0", keys[-1]])) == {"live", "later", "k0", keys[-1]}


def test_few_segments_are_not_compacted(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    write(store, Answer("a", "ok"))
    before = segments(tmp_path, store)
    store.compact()
    assert segments(tmp_path, store) == before


def test_threads_may_share_a_writer(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    with store.writer() as writer:
        threads = [
            threading.Thread(target=lambda part=part: [writer.add(a) for a in numbered(part, part + 500)])
            for part in range(0, 2000, 500)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(store.get(f"k{i}" for i in range(2000))) == 2000


PROGRAM = """
import sys, time
from inference.answers import AnswerStore
from leaderflow.core.types import Answer
name, pause = sys.argv[2], float(sys.argv[3])
with AnswerStore(sys.argv[1], "m").writer() as writer:
    for i in range(int(sys.argv[4])):
        writer.add(Answer(f"{name}{i}", "ok", output="text " * 50))
        print(time.time(), f"{name}{i}", flush=True)
        time.sleep(pause)
"""


def writing(root: Path, name: str, pause: float, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(root), name, str(pause), str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_processes_write_at_once(tmp_path: Path) -> None:
    running = [writing(tmp_path, name, 0, 300) for name in "abc"]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert len(AnswerStore(tmp_path, "m").get(f"{name}{i}" for name in "abc" for i in range(300))) == 900


@pytest.mark.crash
def test_a_killed_writer_loses_at_most_the_last_second(tmp_path: Path) -> None:
    process = writing(tmp_path, "k", 0.002, 1_000_000)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(2.3)
    killed_at = time.time()
    process.send_signal(signal.SIGKILL)
    added = [line.split() for line in process.communicate(timeout=30)[0].splitlines() if line.count(" ") == 1]
    safe = {key for when, key in added if float(when) < killed_at - 1}
    assert len(safe) > 100
    assert safe <= set(AnswerStore(tmp_path, "m").get(safe))


FULL_DISK = """
import resource, sys, time
from inference.answers import AnswerStore
from leaderflow.core.errors import StoreError
from leaderflow.core.types import Answer
store = AnswerStore(sys.argv[1], "m")
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    with store.writer() as writer:
        for i in range(1_000):
            writer.add(Answer(f"k{i}", "ok", output=str(i * i)))
            writer.flush()
except StoreError as exc:
    print(exc)
"""


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith("cannot store answers in")
    assert "File too large" in done.stdout
    assert done.stderr == ""
    assert AnswerStore(tmp_path, "m").get(["k0"])


def test_folders_are_readable_and_distinct() -> None:
    one, two = folder_name('{"api":"qwen/qwen3","host":"x:80"}'), folder_name('{"api":"qwen-qwen3","host":"x:80"}')
    assert one.startswith("api-qwen-qwen3-host")
    assert one != two
    assert "/" not in one


@pytest.mark.parametrize(("age", "expected"), [("20h", 72_000), ("90", 90), ("1.5d", 129_600), ("2 w", 1_209_600), ("5m", 300)])
def test_ages(age: str, expected: float) -> None:
    assert seconds(age) == expected


@pytest.mark.parametrize("age", ["", "h", "20 hours", "-3h"])
def test_what_is_no_age_is_refused(age: str) -> None:
    with pytest.raises(SpecError, match="is no time"):
        seconds(age)


def test_a_clock_that_was_put_back_does_not_make_old_answers_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = AnswerStore(tmp_path, "m")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    write(store, Answer("k", "ok", output="of the old clock"))
    monkeypatch.setattr(time, "time", lambda: now)
    assert set(store.get(["k"])) == {"k"}
    assert store.get(["k"], since=now) == {}


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "m")
    (tmp_path / "leases").write_text("a file where a folder belongs")
    with pytest.raises(StoreError, match=r"cannot write .*leases"), store.lease(["0" * 64]):
        pass
    (tmp_path / "answers").mkdir()
    (tmp_path / store.folder).write_text("")
    with pytest.raises(StoreError, match="cannot write"), store.writer():
        pass
