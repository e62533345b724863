from __future__ import annotations

from collections.abc import Iterator

import pytest

from leaderflow.core.sandbox.boxes import best
from tests.fake_openai import _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on which neither bubblewrap nor Docker is found."""
    monkeypatch.setenv("PATH", "/nowhere")
    best.cache_clear()
    yield
    best.cache_clear()
