from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from leaderflow.core.errors import StoreError, UsageError
from leaderflow.core.manifest import Manifest, manifests, new_run_id, plain_manifest
from leaderflow.core.store import Store


def save(store: Store, run: str) -> Manifest:
    manifest = Manifest(run=run, state="completed", started="2030-01-01T00:00:00+00:00", spec={"models": []})
    manifest.save(store)
    return manifest


def test_a_run_that_nobody_walks_has_crashed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    manifest = save(store, "20300101-000000-aaaa").model_copy(update={"state": "running"})
    with manifest.lease(store):
        manifest.save(store)
        assert [read(store, manifest.run) for read in STATES] == ["running", "running"]
    assert [read(store, manifest.run) for read in STATES] == ["crashed", "crashed"]
    manifest.model_copy(update={"state": "completed"}).save(store)
    assert [read(store, manifest.run) for read in STATES] == ["completed", "completed"]


STATES = (
    lambda store, run: Manifest.load(store, run).state,
    lambda store, run: plain_manifest(store, manifests(store)[run])["state"],
)


def test_a_manifest_is_found_by_name_by_beginning_and_as_the_latest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = save(store, "20300101-000000-aaaa"), save(store, "20300102-000000-bbbb")
    assert Manifest.load(store, "latest") == second
    assert Manifest.load(store, "latest~0") == second
    assert Manifest.load(store, "latest~1") == first
    assert Manifest.load(store, "20300101") == first
    assert [m.run for m in Manifest.all(store)] == [first.run, second.run]


@pytest.mark.parametrize(
    ("run", "message"), [("203001", "2 runs named"), ("20300103-000000-aaaa", "did you mean"), ("latest~2", "no run named")]
)
def test_an_unknown_or_unclear_run_is_one_line(tmp_path: Path, run: str, message: str) -> None:
    store = Store(tmp_path)
    save(store, "20300101-000000-aaaa")
    save(store, "20300102-000000-bbbb")
    with pytest.raises(UsageError, match=message):
        Manifest.load(store, run)


def test_an_empty_store_says_how_to_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leaderflow run"):
        Manifest.load(Store(tmp_path), "latest")


def test_run_ids_sort_by_time_and_manifests_are_strict_json(tmp_path: Path) -> None:
    early, late = (new_run_id(datetime(2030, 1, 1, microsecond=part, tzinfo=UTC)) for part in (40_000, 41_000))
    assert early < late < new_run_id(datetime(2030, 1, 2, tzinfo=UTC))
    manifest = save(Store(tmp_path), early)
    text = (tmp_path / "runs" / early / "manifest.json").read_text()
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["run"] == manifest.run


@pytest.mark.parametrize("text", ["", '{"run": "2030', "[]", "{}", '{"run": 5, "surprise": 1}', "\x00"])
def test_a_broken_manifest_is_one_line_and_hides_no_other_run(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    first, broken = save(store, "20300101-000000-aaaa"), save(store, "20300102-000000-bbbb")
    path = tmp_path / "runs" / broken.run / "manifest.json"
    path.write_text(text)
    for read in (lambda: Manifest.load(store, broken.run), lambda: plain_manifest(store, path)):
        with pytest.raises(StoreError, match=r"manifest\.json is cut or altered"):
            read()
    assert [m.run for m in Manifest.all(store)] == [first.run]
    assert f"run {broken.run} is left out" in caplog.text


def test_a_manifest_that_leads_nowhere_is_one_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "runs" / "20300101-000000-aaaa").mkdir(parents=True)
    (tmp_path / "runs" / "20300101-000000-aaaa" / "manifest.json").symlink_to("nowhere")
    with pytest.raises(StoreError, match="cannot be read"):
        Manifest.load(store, "latest")
