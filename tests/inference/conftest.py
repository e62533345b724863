from __future__ import annotations

import pytest

from tests.fake_openai import _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
