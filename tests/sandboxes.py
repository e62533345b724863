"""A machine without any sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from leaderflow.core.sandbox.boxes import best


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Neither bubblewrap nor Docker is found."""
    monkeypatch.setenv("PATH", "/nowhere")
    best.cache_clear()
    yield
    best.cache_clear()
