"""The guide for the first hour is true: its commands run from top to bottom, and its claims hold."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, cli, folder
from tests.docs.test_readme import ROOT
from tests.fake_openai import FakeOpenAI

__all__ = ["cli", "folder"]

GUIDE = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*) ?([\w.]*)\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
COMMANDS = [line for language, _, text in BLOCKS if language == "bash" for line in text.splitlines()]
ADDRESS = "http://localhost:8000/v1"


@pytest.fixture
def place(folder: Path, fake_openai: FakeOpenAI) -> Path:
    """The files that the guide shows, and the model it takes for granted."""
    for _, name, text in BLOCKS:
        if name:
            (folder / name).write_text(text.replace(ADDRESS, fake_openai.base_url))
    fake_openai.script(models=None, rules=[])
    return folder


def typed(command: str, server: FakeOpenAI) -> list[str]:
    words = shlex.split(command.replace(ADDRESS, server.base_url))[1:]
    return [*words, "--no-server"] if words[0] == "run" else words


def test_the_guide_from_top_to_bottom(cli: Cli, place: Path, fake_openai: FakeOpenAI) -> None:
    assert len(COMMANDS) == 8
    for command in COMMANDS:
        ran = cli(*typed(command, fake_openai))
        assert ran.code == 0, (command, ran.err)
        assert ran.out


def test_the_same_command_asks_what_is_missing(cli: Cli, place: Path, fake_openai: FakeOpenAI) -> None:
    command = typed(COMMANDS[-1], fake_openai)
    fake_openai.always("server_error", contains="Italy")
    assert cli(*command, "--set", "models.*.retries=0").code == 3
    fake_openai.script(rules=[])
    fake_openai.reset()
    assert cli(*command).code == 0
    assert fake_openai.stats["requests"] == 2


def test_the_page_is_short() -> None:
    assert len(GUIDE.splitlines()) <= 100
