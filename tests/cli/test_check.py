from __future__ import annotations

from tests.cli.conftest import Cli
from tests.fake_openai import FakeOpenAI


def test_a_model_that_can_be_asked(cli: Cli, fake_openai: FakeOpenAI) -> None:
    ran = cli("check", "openai/fake", "--base-url", fake_openai.base_url)
    assert ran.code == 0
    assert "ok    generate" in ran.out
    assert "# a model block to paste\ntype: OpenAISDK\n" in ran.out
    assert "retries" not in ran.out


def test_one_that_cannot(cli: Cli, fake_openai: FakeOpenAI) -> None:
    fake_openai.always("unauthorized")
    ran = cli("check", "openai/fake", "--base-url", fake_openai.base_url, "--json")
    assert ran.code == 1
    assert ran.json["good"] is False
    assert ran.json["findings"][0]["said"].startswith("the key is refused")
    assert "paste" not in cli("check", "openai/fake", "--base-url", fake_openai.base_url).out


def test_wrong_usage(cli: Cli) -> None:
    assert cli("check", "nobody-knows-this").code == 2
