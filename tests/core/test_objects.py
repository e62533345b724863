"""A store in an object store, on a real S3 server (moto)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from leaderflow.core import identity, object_leases
from leaderflow.core.artifacts import SAMPLES, table_of
from leaderflow.core.errors import SpecError, StoreError
from leaderflow.core.files import Files, LocalFiles, open_files
from leaderflow.core.load import load_evaluation
from leaderflow.core.manifest import Manifest, manifest_place, run_names, timestamp
from leaderflow.core.object_uri import shown
from leaderflow.core.store import Store
from tests.s3 import Bucket, _s3_server, s3

__all__ = ["_s3_server", "s3"]

TABLES = {name: table_of(SAMPLES, [{"sample_id": "a", "row": "{}"}]) for name in ("samples", "pool")}
PARTS = {"stage": "read", "code": "c", "config": {"x": 1}, "parents": []}
KEY = identity.sha256_hex(identity.canonical_json(PARTS))


@pytest.fixture
def files(s3: Bucket) -> Files:
    return open_files(s3.uri())


def test_what_was_written_is_found_and_read_back(s3: Bucket, tmp_path: Path) -> None:
    store, local = Store(s3.uri()), Store(tmp_path)
    store.check_writable()
    record = store.write("read", KEY, PARTS, TABLES)
    assert record == local.write("read", KEY, PARTS, TABLES)
    again = Store(store.files.address)
    assert again.lookup("read", KEY) == record == again.find(KEY[:8])
    assert again.intact(record)
    assert again.read(record["samples"]).equals(TABLES["samples"])
    assert again.files.names("artifacts") == local.files.names("artifacts")
    assert Store(s3.uri("elsewhere")).lookup("read", KEY) is None


@pytest.mark.parametrize("damage", ["missing", "cut", "record cut"])
def test_a_missing_or_cut_object_is_a_miss(s3: Bucket, damage: str) -> None:
    store = Store(s3.uri())
    record = store.write("read", KEY, PARTS, TABLES)
    name = record["samples"].path if damage != "record cut" else f"artifacts/read/{KEY[:2]}/{KEY}.json"
    if damage == "missing":
        store.files.delete(name)
    else:
        store.files.write(name, store.files.read(name)[:10])
    assert store.lookup("read", KEY) is None


def test_an_altered_object_is_never_trusted(s3: Bucket) -> None:
    store = Store(s3.uri())
    record = store.write("read", KEY, PARTS, TABLES)
    data = bytearray(store.files.read(record["samples"].path))
    data[len(data) // 2] ^= 1
    store.files.write(record["samples"].path, bytes(data))
    assert store.lookup("read", KEY) is not None, "the size still fits"
    with pytest.raises(StoreError, match="altered"):
        store.read(record["samples"])
    assert store.lookup("read", KEY) is None


def test_copies_follow_the_objects(s3: Bucket, files: Files) -> None:
    files.write("history/a", b"1")
    files.write("history/deep/b", b"2")
    files.write("history/.hidden", b"0")
    assert [path.read_bytes() for path in files.mirror("history")] == [b"1", b"2"]
    other = open_files(s3.uri())
    other.write("history/a", b"longer")
    other.delete("history/deep/b")
    assert [path.read_bytes() for path in files.mirror("history")] == [b"longer"]
    assert files.local("history/a").read_bytes() == b"longer"
    with pytest.raises(FileNotFoundError):
        files.local("history/deep/b")
    assert files.mirror("nothing") == []


def test_an_object_written_again_at_once_is_copied_again(files: Files) -> None:
    for state in (b"state 1", b"state 2", b"state 3"):
        files.write("runs/x", state)
        assert files.local("runs/x").read_bytes() == state


def test_a_damaged_copy_is_fetched_again(files: Files) -> None:
    files.write("history/a", b"whole")
    [path] = files.mirror("history")
    path.write_bytes(b"wh")
    assert files.mirror("history")[0].read_bytes() == b"whole"


def test_a_large_file_is_put_in_parts_and_one_that_fails_not_at_all(files: Files) -> None:
    data = bytes(range(256)) * 50_000
    with files.writing("large") as file:
        file.write(data)
    assert files.read("large") == data
    with contextlib.suppress(KeyError), files.writing("half") as file:
        file.write(b"half of it")
        raise KeyError
    assert files.sizes(["half", "large"]) == {"large": len(data)}


def test_a_manifest_is_loaded_from_where_it_is_said_to_lie(s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_STORE", s3.uri())
    store = Store(s3.uri())
    manifest = Manifest(run="20300101-000000-aaaa", started=timestamp(), spec={"models": [], "datasets": []})
    manifest.save(store)
    assert run_names(store) == [manifest.run]
    assert Manifest.load(store, "latest").state == "crashed"
    with manifest.lease(store):
        assert Manifest.load(store, "latest").model_dump() == manifest.model_dump()
    with pytest.raises(SpecError, match="no model is named"):
        load_evaluation(manifest_place(store, manifest.run))
    for elsewhere in (f"{store.files.place}/runs/none.json", "s3://another/manifest.json"):
        with pytest.raises(SpecError, match="no such file in the store"):
            load_evaluation(elsewhere)


def test_a_file_uri_is_a_folder(tmp_path: Path) -> None:
    files = open_files(f"file://{tmp_path}/my%20store")
    assert isinstance(files, LocalFiles)
    assert files.root == tmp_path / "my store"
    with pytest.raises(StoreError, match="names a host"):
        open_files("file://host/store")


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("s3://b/p/?region=x", "s3://b/p"),
        ("s3://KEY:SE/CR@ET@b/p?endpoint_override=h:9", "s3://***@b/p"),
        ("abfs://container@account.dfs.core.windows.net/p", "abfs://container@account.dfs.core.windows.net/p"),
    ],
)
def test_a_store_is_shown_without_credentials(uri: str, place: str) -> None:
    assert shown(uri) == place


@pytest.mark.parametrize(
    ("prefix", "meant"), [("our runs", "our%20runs"), ("测试/ü", "%E6%B5%8B%E8%AF%95/%C3%BC"), ("90%", "90%25")]
)
def test_a_prefix_may_hold_any_letter(s3: Bucket, prefix: str, meant: str) -> None:
    files = open_files(s3.uri(prefix))
    files.write("runs/a", b"1")
    assert files.place == f"s3://{s3.name}/{prefix}"
    assert open_files(s3.uri(meant)).read("runs/a") == b"1"


@pytest.mark.parametrize("verb", ["check_writable", "mirror"])
def test_a_bucket_that_is_not_there_is_one_line(s3: Bucket, verb: str) -> None:
    files = open_files(s3.uri(bucket="no-such-bucket"))
    with pytest.raises(StoreError, match=r"^cannot \w+ the store s3://no-such-bucket/team/store: there is no such bucket$"):
        files.mirror("runs") if verb == "mirror" else files.check_writable()


WRONG = {
    "foo://user:pass-word@host/x": "its scheme is unknown; a store is a path, or begins with s3://",
    "s3://": "it names no bucket",
    "s3://user:pass-word 5%é@bucket:x/y": "cannot use the store s3://***@bucket:x/y",
    "s3://user:pass-word@bucket/x?no_such_option=1&endpoint_override=h": "no_such_option",
}


@pytest.mark.parametrize("uri", list(WRONG))
def test_a_wrong_uri_is_one_line_without_its_password(uri: str) -> None:
    with pytest.raises(StoreError) as told:
        Store(uri)
    assert WRONG[uri] in str(told.value)
    assert "pass-word" not in str(told.value)
    assert "\n" not in str(told.value)


@pytest.fixture
def forbidding() -> Iterator[str]:
    """The address of a server that lets nobody in."""

    class Forbid(BaseHTTPRequestHandler):
        def _no(self) -> None:
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_PUT = do_POST = do_HEAD = _no

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forbid)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_refused_credentials_are_one_line_and_never_shown(forbidding: str, s3: Bucket) -> None:
    own = Bucket(forbidding)
    for uri in (own.uri(), own.uri(login="other-id:other-secret@")):
        for verb in (Store(uri).check_writable, lambda uri=uri: Store(uri).find("abcdef"), lambda uri=uri: run_names(Store(uri))):
            with pytest.raises(StoreError, match="access is denied; give credentials in the environment") as told:
                verb()
            assert not [secret for secret in ("the-key-id", "the-secret", "other") if secret in str(told.value)]


class TestLeases:
    @pytest.fixture(autouse=True)
    def _quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(object_leases, "RENEW_S", 0.2)
        monkeypatch.setattr(object_leases, "POLL_S", 0.05)

    def test_a_lease_is_held_by_one_at_a_time(self, s3: Bucket) -> None:
        inside: list[str] = []

        def hold(name: str) -> None:
            files = open_files(s3.uri())
            for _ in range(2):
                with files.lease("history"):
                    inside.append(name)
                    time.sleep(0.02)
                    inside.append(name)

        in_threads(hold, "abcd")
        assert len(inside) == 16
        assert all(enters == leaves for enters, leaves in zip(inside[::2], inside[1::2], strict=True))

    def test_only_equal_keys_exclude_each_other(self, files: Files) -> None:
        one, two = ["a" * 64, "b" * 64], ["b" * 64, "c" * 64]
        done: list[str] = []

        def second() -> None:
            with files.lease("m", two):
                done.append("two")

        with files.lease("m", one), files.lease("m", ["d" * 64]), files.lease("n", one):
            thread = threading.Thread(target=second)
            thread.start()
            thread.join(0.5)
            assert done == []
        thread.join(20)
        assert done == ["two"]

    def test_a_long_lease_is_renewed(self, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(object_leases, "EXPIRES_S", 4.0)
        order: list[str] = []

        def second() -> None:
            with files.lease("m"):
                order.append("second")

        with files.lease("m"):
            thread = threading.Thread(target=second)
            thread.start()
            time.sleep(5.5)  # longer than a lease lives unrenewed
            order.append("first")
        thread.join(20)
        assert order == ["first", "second"]

    def test_the_lease_of_a_dead_owner_expires(
        self, files: Files, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(object_leases, "EXPIRES_S", 2.0)
        for number in (0, 7):  # one that died while it chose its number, one that held the lease
            files.write(f"leases/m/{number:012d}-dead", b"a" * object_leases.HEX_DIGITS)
        started = time.monotonic()
        with files.lease("m", ["a" * 64]):
            assert time.monotonic() - started > 1
            assert len(files.names("leases/m")) == 1
        assert "died less than 2 s ago" in caplog.text
        assert files.names("leases/m") == []

    def test_what_else_lies_there_is_no_claim(self, files: Files) -> None:
        foreign = [f"leases/m/{name}" for name in ("000000000000-a.txt", "README.md", "deep/000000000000-a")]
        for name in foreign:
            files.write(name, b"*")
        assert not files.leased("m")
        with files.lease("m"):
            assert files.leased("m")
        assert files.names("leases/m") == foreign


def in_threads(target: object, names: str) -> None:
    threads = [threading.Thread(target=target, args=(name,)) for name in names]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
