"""Every command of docs/from-opencompass.md works, and every option it names is one."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.fake_openai import FakeOpenAI, _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]

GUIDE = (Path(__file__).parents[2] / "docs" / "from-opencompass.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+) ?([\w.]*)\n(.*?)```", GUIDE, re.DOTALL)
ROWS = [{"question": f"Which is {i}?", "A": str(i), "B": "none", "answer": "A"} for i in range(3)]


@pytest.fixture
def work(folder: Path, fake_openai: FakeOpenAI) -> Path:
    """The guide's files, a served model, and an old run of it."""
    fake_openai.script(reply="The answer is A.")
    for _, name, text in BLOCKS:
        if name:
            (folder / name).write_text(text.replace("http://127.0.0.1:8000/v1", fake_openai.base_url))
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    old = folder / "outputs/demo/20240101_000000"
    (old / "configs").mkdir(parents=True)
    (old / "configs/20240101_000000_1.py").write_text((folder / "eval_demo.py").read_text())
    (old / "configs/questions.jsonl").write_text((folder / "questions.jsonl").read_text())
    predictions = {str(i): {"prediction": "AB"[i % 2], "gold": "A"} for i in range(3)}
    (old / "predictions/served").mkdir(parents=True)
    (old / "predictions/served/demo.json").write_text(json.dumps(predictions))
    return folder


def test_the_guide_from_top_to_bottom(cli: Cli, work: Path, fake_openai: FakeOpenAI) -> None:
    commands = [shlex.split(line) for language, _, text in BLOCKS if language == "bash" for line in text.splitlines()]
    assert len(commands) == 6
    fake_openai.reset()
    for command in commands:
        extra = ["--no-server"] if command[1] == "run" else []
        ran = cli(*command[1:], *extra)
        assert ran.code == 0, (command, ran.err)
        assert ran.out
    assert fake_openai.stats["requests"] == len(ROWS), "the migrated file asks nothing new, and an import asks nothing at all"


@pytest.mark.parametrize("command", ["run", "preview", "list", "show", "migrate", "import-predictions"])
def test_the_options_of_the_tables_exist(cli: Cli, command: str) -> None:
    known = cli(command, "--help").out
    for text in re.findall(rf"`leaderflow {command} ([^`]*)`", GUIDE):
        for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", text):
            assert option in known, (command, option)


def test_settings_that_the_tables_name(cli: Cli, work: Path) -> None:
    options = "--base-url URL --limit 1 --repeats 4 --concurrency 32 --data-dir . --opencompass-root"
    known = cli("run", "--help").out
    assert all(option in known for option in re.findall(r"--[\w-]+", options))
    named = ("--base-url", "--limit", "--repeats", "--concurrency", "--data-dir", "--opencompass-root")
    assert all(option in GUIDE for option in named)
    assert cli("run", "eval_demo.py", "--limit", "1", "--repeats", "4", "--no-server").code == 0


def test_the_guide_is_short() -> None:
    assert len(GUIDE.splitlines()) <= 150
