from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaderflow.core.errors import DataError
from readers.stage import Source, fingerprint
from tests.readers.fake_hub import fake_hub
from tests.readers.make import dataset, jsonl, pool, questions, rows


def hub(**changes: Any) -> Any:
    return dataset("some/questions", type="HFDataset", **changes)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """A hub that refuses connections, empty caches, and a list of every connection tried."""
    tried: list[Any] = []
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
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


CARD = b"""---
configs:
- config_name: main
  data_files:
  - {split: train, path: main/train.jsonl}
  - {split: test, path: main/test.jsonl}
---
"""

LOAD = """
import json
import sys
from tests.readers.make import dataset, pool, rows
from readers.stage import Source
spec = dataset("some/questions", type="HFDataset", name="main")
source = Source(offline=sys.argv[1] == "offline")
print(json.dumps([rows(spec, source), pool(spec, source)]))
"""


def load(how: str, home: Path, endpoint: str) -> Any:
    """Load the hub's dataset in a process of its own: the library reads its environment when it is imported."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0", "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, "-c", LOAD, how], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_hub_and_then_its_cache(tmp_path: Path) -> None:
    train, test = ("".join(json.dumps(row) + "\n" for row in questions(count)) for count in (3, 2))
    files = {"README.md": CARD, "main/train.jsonl": train.encode(), "main/test.jsonl": test.encode()}
    with fake_hub("some/questions", files) as endpoint:
        online = load("online", tmp_path, endpoint)
    assert online == [questions(2), questions(3)]
    assert load("offline", tmp_path, endpoint) == online
    assert load("online", tmp_path, endpoint) == online
