from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployments.support import ROOT, Site
from tests.fake_openai import FakeOpenAI, _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]


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
