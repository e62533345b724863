from __future__ import annotations

import pytest

from tests.fake_openai import FakeOpenAI, _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]


@pytest.fixture
def server(fake_openai: FakeOpenAI) -> FakeOpenAI:
    """The fake server with number answers."""
    fake_openai.script(reply="The answer is {number}.")
    return fake_openai
