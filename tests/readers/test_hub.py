from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaderflow.core.errors import DataError
from readers.stage import Source, fingerprint
from tests.readers.make import dataset, jsonl, pool, questions, rows


def hub(**changes: Any) -> Any:
    return dataset("some/questions", type="HFDataset", **changes)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """A hub that refuses connections, empty caches, and a list of every connection tried."""
    tried: list[Any] = []
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "HF_HUB_CACHE",
        "HF_DATASETS_CACHE",
    ):
        monkeypatch.delenv(name, raising=False)
    connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: (tried.append(address), connect(self, address))[1])
    return tried


@pytest.mark.parametrize("offline", [True, False])
def test_a_local_file_comes_before_any_network(tmp_path: Path, no_network: list[Any], offline: bool) -> None:
    jsonl(tmp_path / "q" / "test.jsonl", questions(3))
    spec = hub(local={"test": "q/test.jsonl"})
    source = Source(tmp_path, offline=offline)
    assert len(rows(spec, source)) == len(pool(spec, source)) == 3
    assert fingerprint(spec, source)["source"]["hub"] is None
    assert no_network == []


def test_offline_and_absent_is_said_before_the_library_is_loaded(
    tmp_path: Path, no_network: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataError) as caught:
        rows(hub(local={"test": "q/test.jsonl"}), Source(tmp_path, offline=True))
    assert "offline, and not in the hub cache" in str(caught.value)
    assert str(tmp_path / "q" / "test.jsonl") in str(caught.value)
    assert "--data-dir" in str(caught.value)
    assert no_network == []


def test_an_unreachable_hub_is_named_with_the_local_file(tmp_path: Path, no_network: list[Any]) -> None:
    with pytest.raises(DataError) as caught:
        rows(hub(local={"test": "q/test.jsonl"}), Source(tmp_path))
    assert "http://127.0.0.1:9 cannot be reached" in str(caught.value)
    assert str(tmp_path / "q" / "test.jsonl") in str(caught.value)
    assert no_network == [("127.0.0.1", 9)]


def test_a_missing_split_file_comes_from_the_hub(tmp_path: Path, no_network: list[Any]) -> None:
    jsonl(tmp_path / "q" / "test.jsonl", questions(3))
    spec = hub(local={"test": "q/test.jsonl", "train": "q/train.jsonl"})
    assert len(rows(spec, Source(tmp_path))) == 3
    with pytest.raises(DataError, match=r"cannot be reached; no local file .*q/train\.jsonl"):
        pool(spec, Source(tmp_path))
    assert fingerprint(spec, Source(tmp_path))["source"]["hub"]["path"] == "some/questions"


def test_a_folder_laid_out_like_a_hub_dataset(tmp_path: Path, no_network: list[Any]) -> None:
    folder = tmp_path / "repo" / "data"
    folder.mkdir(parents=True)
    for split, count in (("train", 4), ("test", 2)):
        table = pa.table({"question": [f"{split}{n}" for n in range(count)], "answer": list(range(count))})
        pq.write_table(table, folder / f"{split}-00000-of-00001.parquet")
    spec = dataset(tmp_path / "repo", type="HFDataset")
    assert rows(spec, Source(offline=True)) == [{"question": "test0", "answer": 0}, {"question": "test1", "answer": 1}]
    assert len(pool(spec, Source(offline=True))) == 4
    assert no_network == []
    before = fingerprint(spec, Source())
    assert str(tmp_path) not in str(before)
    (folder / "extra.parquet").write_bytes(b"x")
    assert fingerprint(spec, Source()) != before
