"""Everything that docs/api-models.md shows is true."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from ruamel.yaml import YAML

from inference.inferencers.gen import NAMED
from inference.stage import capabilities, check_model
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Status
from tests.inference.helpers import model

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "api-models.md").read_text(encoding="utf-8")


def load(text: str) -> Any:
    return YAML(typ="safe").load(StringIO(text))


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL))
def test_model_blocks(block: str) -> None:
    check_model(ModelSpec(**load(block)))


def routes() -> list[tuple[str, str]]:
    table = GUIDE.partition("## Routes")[2].partition("## Settings")[0]
    return re.findall(r"^\| ([^|]+) \| (`[^|]+`) \|$", table, re.MULTILINE)


@pytest.mark.parametrize(("wanted", "written"), routes())
def test_routes(wanted: str, written: str) -> None:
    arguments = load("\n".join(re.findall(r"`([^`]+)`", written)))
    block = model(arguments=arguments)
    check_model(block)
    assert ("loglikelihood" in capabilities(block)) == ("log-likelihoods" in wanted)
    assert ("text" in capabilities(block)) == (arguments["route"] == "completions")


def test_the_tables_are_complete() -> None:
    assert {written.split("`")[1] for _, written in routes()} == {"route: chat", "route: responses", "route: completions"}
    states = re.findall(r"^\| `(\w+)` \|", GUIDE.partition("## What becomes of a request")[2], re.MULTILINE)
    assert set(states) == set(get_args(Status)) - {"unparsed"}
    assert all(f"`{name}`" in GUIDE.partition("## Settings")[2] for name in NAMED)
