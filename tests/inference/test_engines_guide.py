"""Everything that docs/engines.md shows is true."""

from __future__ import annotations

import re
import shlex
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.testing
from ruamel.yaml import YAML

from inference.inferencers.ppl import Choice
from inference.stage import check_model
from leaderflow.cli.main import app
from leaderflow.core.names import NAMES
from leaderflow.core.paths import home
from leaderflow.core.prices import prices_of
from leaderflow.core.specs import EvaluationSpec, ModelSpec
from tests.inference.helpers import model

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


def load(text: str) -> Any:
    return YAML(typ="safe").load(StringIO(text))


@pytest.mark.parametrize("block", blocks("yaml"))
def test_model_blocks(block: str) -> None:
    check_model(ModelSpec(**load(block)))


def test_the_arguments_in_the_text_exist() -> None:
    text = GUIDE.partition("Other arguments: ")[2].partition(", or")[0]
    for name in re.findall(r"`(\w+)`", text):
        if name not in ("OpenAISDK",):
            value: Any = {"env": {}, "extra_body": {}, "reasoning": True, "reasoning_tags": []}.get(name, "x")
            check_model(ModelSpec(type="VLLM", abbr="m", path="x", arguments={name: value}))


def test_the_price_table() -> None:
    home().mkdir(parents=True)
    (home() / "prices.yaml").write_text(blocks("prices")[0])
    assert prices_of([model(path="my-model", abbr="m")]).cost("m", 1_000_000, 500_000) == 3.0


def test_the_caps() -> None:
    rows = re.findall(r"^\| `(--[a-z-]+) (\S+)` \| `(\w+): (\S+)` \|", GUIDE, re.MULTILINE)
    assert len(rows) == 3
    helped = typer.testing.CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200"}).output
    for option, value, field, written in rows:
        assert option in helped
        assert value == written
        assert field in EvaluationSpec.model_fields
        assert option == f"--{field.replace('_', '-')}"


@pytest.mark.parametrize("command", [line.partition("#")[0].strip() for line in blocks("")[0].splitlines()])
def test_the_commands(command: str) -> None:
    words = shlex.split(command)
    assert words[0] == "leaderflow"
    assert typer.testing.CliRunner().invoke(app, [*words[1:], "--help"]).exit_code == 0
    assert "--cpu" in typer.testing.CliRunner().invoke(app, ["vllm", "install", "--help"], env={"COLUMNS": "200"}).output


def test_the_inferencers_are_complete() -> None:
    table = GUIDE.partition("## Ways of asking")[2]
    assert {name for name in re.findall(r"`(\w+Inferencer)`", table)} == set(NAMES["inferencer"])
    assert all(f"`{choice}`" in table for choice in get_args(Choice))
    assert len(GUIDE.splitlines()) <= 120
