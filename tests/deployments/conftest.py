from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows import server as server_module
from tests.deployments.postgres import Postgres, prefect_on
from tests.deployments.support import ROOT, Site
from tests.fake_openai import FakeOpenAI, _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Prefect server: on SQLite, or on PostgreSQL with ``LEADERFLOW_TEST_DATABASE=postgresql``."""
    home = tmp_path_factory.mktemp("prefect-home")
    if os.environ.get("LEADERFLOW_TEST_DATABASE") == "postgresql":
        database = Postgres(Path("/tmp") / f"leaderflow-{home.parent.parent.name}-{os.getpid()}" / "postgres")
        try:
            with prefect_on(database, home) as api:
                yield api
        finally:
            database.stop()
            shutil.rmtree(database.folder.parent)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", str(home))
        running = server_module.start()
        yield running.api
        server_module.stop()


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `prefect deploy` and workers find the packages also where they are not installed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def server(fake_openai: FakeOpenAI) -> FakeOpenAI:
    """The fake server with number answers."""
    fake_openai.script(reply="The answer is {number}.")
    return fake_openai


@pytest.fixture
def site(prefect_server: str, tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site of the test's own on the shared Prefect server."""
    found = Site(prefect_server, tmp_path, server, retries=0)
    monkeypatch.setenv("LEADERFLOW_RECIPES", str(tmp_path / "recipes"))
    return found


@pytest.fixture
def big(prefect_server: str, tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site with 400 rows and a slow model, to be disturbed in the middle."""
    server.script(latency=1.0)
    monkeypatch.setenv("LEADERFLOW_RECIPES", str(tmp_path / "recipes"))
    return Site(prefect_server, tmp_path, server, rows=400, retries=0)
