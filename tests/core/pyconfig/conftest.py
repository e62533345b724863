from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _no_opencompass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADERFLOW_OPENCOMPASS", raising=False)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's folder."""

    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return _write
