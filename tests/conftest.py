"""Fixtures for every room: a home and a store of the test's own, a local Prefect server for the tests that need one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("DO_NOT_TRACK", "1")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's home and store."""
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real local Prefect server, started once and stopped at the end."""
    from flows import server

    home = tmp_path_factory.mktemp("prefect-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", str(home))
        running = server.start()
        yield running.api
        server.stop()
