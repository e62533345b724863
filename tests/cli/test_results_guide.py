"""Every command and snippet of docs/results.md works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from .conftest import Cli

GUIDE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+) ?([\w.]*)\n(.*?)```", GUIDE, re.DOTALL)
REGRESSION = 4


def blocks(kind: str) -> list[str]:
    return [text for language, _, text in BLOCKS if language == kind]


def test_the_guide_from_top_to_bottom(cli: Cli, folder: Path) -> None:
    for language, name, text in BLOCKS:
        if language == "yaml" and name.endswith(".yaml"):
            (folder / name).write_text(text)
    commands = [shlex.split(line) for text in blocks("bash") for line in text.splitlines()]
    assert len(commands) > 15
    for command in commands:
        assert command[0] == "leaderflow"
        ran = cli(*command[1:])
        regressed = command[1] == "compare" and "significantly worse" in ran.err
        assert ran.code == (REGRESSION if regressed else 0), (command, ran.err)
        assert ran.out
    for text in blocks("python"):
        found: dict[str, Any] = {}
        exec(text, found)
        assert len(found["wrong"]) > 0
        assert found["slowest"].height == 10


def test_the_groups_of_the_guide(cli: Cli, folder: Path) -> None:
    (text,) = [text for _, name, text in BLOCKS if name == "summarizer"]
    (old,) = [text for _, name, text in BLOCKS if name == "old.yaml"]
    (folder / "old.yaml").write_text(old)
    (folder / "spec.yaml").write_text(f"models: [old.yaml]\ndatasets: [demo_math, demo_choice]\n{text}")
    cells = cli("run", "spec.yaml", "--no-server", "--json").json["cells"]
    value = {cell["dataset"]: cell["value"] for cell in cells}
    wanted = [item if isinstance(item, str) else item[0] for item in YAML(typ="safe").load(text)["summarizer"]["dataset_abbrs"]]
    assert list(value) == wanted
    assert value["everything"] == pytest.approx((value["demo_math"] + 3 * value["demo_choice"]) / 4)
    assert value["errors"] == pytest.approx(200 - value["demo_math"] - value["demo_choice"])


def test_the_guide_is_short() -> None:
    assert len(GUIDE.splitlines()) <= 120
