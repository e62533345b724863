from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from leaderflow.core import identity
from leaderflow.core.artifacts import OUTPUTS, SAMPLES, completed, table_of
from leaderflow.core.errors import StoreError
from leaderflow.core.store import Record, Store

TABLES = {name: table_of(SAMPLES, [{"sample_id": "a", "row": "{}"}]) for name in ("samples", "pool")}
PARTS = {"stage": "read", "code": "c", "config": {"x": 1}, "parents": []}
KEY = identity.sha256_hex(identity.canonical_json(PARTS))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def record(store: Store) -> Record:
    return store.write("read", KEY, PARTS, TABLES)


def test_what_was_written_is_found_and_read_back(store: Store, record: Record) -> None:
    assert store.lookup("read", KEY) == record
    assert store.intact(record)
    assert store.read(record["samples"]).equals(TABLES["samples"])
    assert record["samples"].digest == identity.table_digest(TABLES["samples"])


def test_a_moved_store_is_as_good_as_before(store: Store, record: Record, tmp_path: Path) -> None:
    store.files.root.rename(tmp_path / "elsewhere")
    moved = Store(tmp_path / "elsewhere")
    assert moved.lookup("read", KEY) == record
    assert moved.read(record["pool"]).num_rows == 1


@pytest.mark.parametrize("damage", ["cut", "folder"])
def test_an_unreadable_record_is_a_miss(store: Store, record: Record, damage: str) -> None:
    path = (store.files.root / record["samples"].path).with_name(f"{KEY}.json")
    if damage == "cut":
        os.truncate(path, 10)
    else:
        path.unlink()
        path.mkdir()
    assert store.lookup("read", KEY) is None


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_missing_or_cut_table_is_a_miss(store: Store, record: Record, damage: str) -> None:
    path = store.files.root / record["samples"].path
    path.unlink() if damage == "missing" else os.truncate(path, 10)
    assert store.lookup("read", KEY) is None


def test_an_altered_table_is_never_trusted(store: Store, record: Record) -> None:
    path = store.files.root / record["samples"].path
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert store.lookup("read", KEY) is not None, "the size still fits"
    assert not store.intact(record)
    assert store.lookup("read", KEY) is None
    with pytest.raises(StoreError, match="altered"):
        store.read(record["samples"])


def test_a_table_with_unanswered_rows_is_written_but_not_found(store: Store) -> None:
    record = store.write("read", KEY, PARTS, TABLES, final=False)
    assert store.lookup("read", KEY) is None
    assert store.read(record["samples"]).num_rows == 1


def test_a_table_of_another_schema_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="another schema"):
        store.write("read", KEY, PARTS, {"samples": TABLES["samples"].select(["row"])})


def test_a_record_is_found_by_the_first_digits_of_its_key(store: Store, record: Record) -> None:
    assert store.find(KEY[:8]) == record
    assert store.find("ffffff" if KEY[0] != "f" else "000000") is None


def test_no_temporary_file_is_left(store: Store, record: Record) -> None:
    assert not list(store.files.root.rglob("*.tmp"))


def test_an_unwritable_store_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot write the store .*LEADERFLOW_STORE"):
        Store(tmp_path / "file" / "store").check_writable()


def test_a_lease_is_held_by_one_at_a_time(store: Store) -> None:
    inside: list[str] = []

    def hold(name: str) -> None:
        with store.lease("shard"):
            inside.append(f"+{name}")
            time.sleep(0.05)
            inside.append(f"-{name}")

    threads = [threading.Thread(target=hold, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside in (["+a", "-a", "+b", "-b"], ["+b", "-b", "+a", "-a"])


def test_tables_of_an_earlier_schema_are_completed(tmp_path: Path) -> None:
    """Measured columns that came later are null; anything else that is missing is not made up."""
    whole = table_of(OUTPUTS, [{"sample_id": "s", "part": 0, "repeat": 0, "status": "ok", "output": "x"}])
    store = Store(tmp_path)
    earlier = whole.drop_columns(["reasoning_tokens", "reasoning_counted"])
    ref = store.write("infer", "1" * 64, {}, {"outputs": whole}, {}).tables["outputs"]
    with pa.ipc.new_file(tmp_path / ref.path, earlier.schema) as writer:
        writer.write_table(earlier)
    read = store.read(ref.model_copy(update={"sha256": hashlib.sha256((tmp_path / ref.path).read_bytes()).hexdigest()}))
    assert read.schema.equals(OUTPUTS)
    assert read.to_pylist() == whole.to_pylist()
    assert completed("infer", whole.drop_columns(["output"])).schema.names == whole.drop_columns(["output"]).schema.names
