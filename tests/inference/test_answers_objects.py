"""The answers store in an object store: every flush is an object, readers merge them all, compaction loses none."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from inference import segment_writer
from inference.answers import AnswerStore
from leaderflow.core.errors import StoreError
from leaderflow.core.store import Store
from leaderflow.core.types import Answer
from tests.inference.test_answers import FULL, numbered, write
from tests.s3 import Bucket, _s3_server, s3

__all__ = ["_s3_server", "s3"]

ROOT = Path(__file__).resolve().parents[2]


def objects(uri: str, store: AnswerStore) -> list[str]:
    return [name for name in Store(uri).files.names(store.folder) if ".arrow" in name]


def test_every_field_comes_back_and_the_later_answer_wins(s3: Bucket) -> None:
    write(AnswerStore(s3.uri(), "m"), FULL, Answer("k", "ok", output="1"))
    write(AnswerStore(s3.uri(), "m"), Answer("k", "ok", output="2"))
    assert AnswerStore(s3.uri(), "m").get(["full", "k", "absent"]) == {"full": FULL, "k": Answer("k", "ok", output="2")}
    assert AnswerStore(s3.uri(), "other").get(["k"]) == {}


def test_every_flush_is_an_object_and_an_open_store_sees_it(s3: Bucket) -> None:
    reader, other = AnswerStore(s3.uri(), "m"), AnswerStore(s3.uri(), "m")
    with other.writer() as writer:
        for answer in numbered(0, 3):
            writer.add(answer)
            writer.flush()
            assert answer.request_key in reader.get([answer.request_key])
    assert len(objects(s3.uri(), other)) == 3


def test_answers_are_stored_by_and_by(s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "OBJECT_FLUSH_S", 0.2)
    store = AnswerStore(s3.uri(), "m")
    with store.writer() as writer:
        writer.add(Answer("k", "ok"))
        assert appears(store, "k")


def test_compaction_keeps_everything(s3: Bucket) -> None:
    store = AnswerStore(s3.uri(), "m")
    for start in range(0, 30, 10):
        write(store, *numbered(start, start + 10))
    keys = [f"k{i}" for i in range(30)]
    before = store.get(keys)
    assert len(before) == 30
    AnswerStore(s3.uri(), "m").compact(above=1)
    [merged] = objects(s3.uri(), store)
    assert merged.endswith(".arrow")
    assert store.get(keys) == before == AnswerStore(s3.uri(), "m").get(keys)


@pytest.mark.parametrize("left", [0, 5, 300])
def test_a_cut_object_holds_what_is_whole_in_it(s3: Bucket, left: int) -> None:
    store = AnswerStore(s3.uri(), "m")
    write(store, Answer("whole", "ok"))
    write(store, Answer("cut", "ok", output="".join(map(str, range(500)))))
    files = Store(s3.uri()).files
    last = objects(s3.uri(), store)[-1]
    files.write(last, files.read(last)[:left])
    assert set(store.get(["whole", "cut"])) == {"whole"}


def test_answers_outlive_a_store_that_cannot_be_written_for_a_while(
    s3: Bucket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(segment_writer, "OBJECT_FLUSH_S", 0.2)
    bucket = Bucket(s3.address)
    bucket.make()
    store = AnswerStore(bucket.uri(), "m")
    with store.writer() as writer:
        empty(bucket)
        bucket.remove()
        writer.add(Answer("k", "ok"))
        until(lambda: "the answers are kept and stored later" in caplog.text)
        writer.add(Answer("l", "ok"))
        bucket.make()
        assert appears(store, "k")
    assert set(store.get(["k", "l"])) == {"k", "l"}


def test_the_last_answers_outlive_it_too(s3: Bucket) -> None:
    bucket = Bucket(s3.address)
    bucket.make()
    back = threading.Timer(1.0, bucket.make)
    with AnswerStore(bucket.uri(), "m").writer() as writer:
        writer.add(Answer("k", "ok"))
        empty(bucket)
        bucket.remove()
        back.start()
    back.join()
    assert set(AnswerStore(bucket.uri(), "m").get(["k"])) == {"k"}


def test_a_store_that_is_gone_for_good_is_told(s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "OBJECT_FLUSH_S", 0.1)
    monkeypatch.setattr(segment_writer, "PATIENCE_S", 0.3)
    bucket = Bucket(s3.address)
    bucket.make()

    def ask_for_ever() -> None:
        with AnswerStore(bucket.uri(), "m").writer() as writer:
            empty(bucket)
            bucket.remove()
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                writer.add(Answer("k", "ok"))
                time.sleep(0.05)

    with pytest.raises(StoreError, match=r"cannot store answers in s3://bucket-.*there is no such bucket"):
        ask_for_ever()


PROGRAM = """
import sys, time
from inference import segment_writer
from inference.answers import AnswerStore
from leaderflow.core.types import Answer
segment_writer.OBJECT_FLUSH_S = 0.5
store = AnswerStore(sys.argv[1], "m")
with store.writer() as writer:
    for i in range(1_000_000):
        writer.add(Answer(f"k{i}", "ok", output="text " * 50))
        time.sleep(0.005)
"""


@pytest.mark.crash
def test_a_killed_writer_loses_only_what_was_not_flushed(s3: Bucket) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, s3.uri()], cwd=ROOT)
    store, keys = AnswerStore(s3.uri(), "m"), [f"k{i}" for i in range(10_000)]
    assert until(lambda: len(objects(s3.uri(), store)) > 1, seconds=60)
    before = store.get(keys)
    process.send_signal(signal.SIGKILL)
    process.wait()
    after = AnswerStore(s3.uri(), "m").get(keys)
    assert before
    assert before.items() <= after.items()
    assert sorted(after, key=keys.index) == keys[: len(after)], "none is missing before the last one"


def appears(store: AnswerStore, key: str) -> bool:
    return until(lambda: bool(store.get([key])))


def until(condition: object, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def empty(bucket: Bucket) -> None:
    """Delete all objects, the markers of folders included."""
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(bucket.uri(""))
    system.delete_dir_contents(path)
