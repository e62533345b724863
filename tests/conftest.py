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
    """The address of a real Prefect server, started once: on SQLite, or with ``LEADERFLOW_TEST_DATABASE=postgresql`` on PostgreSQL.

    There is one for all tests of a process: Prefect sends the events of a process to the server that it met first.
    """
    from flows import server

    home = tmp_path_factory.mktemp("prefect-home")
    if os.environ.get("LEADERFLOW_TEST_DATABASE") == "postgresql":
        from tests.deployments.postgres import server_on_postgres

        with server_on_postgres(home) as api:
            yield api
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", str(home))
        running = server.start()
        yield running.api
        server.stop()
