"""Every example of the guide to prompts gives what the guide says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from leaderflow.core.types import Json
from tests.templating.build import sent, spec, target

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "prompts.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_guide_is_short_and_has_examples() -> None:
    assert len(EXAMPLES) >= 5
    assert len(GUIDE.read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str) -> None:
    given: dict[str, Json] = YAML(typ="safe").load(example)
    dataset = spec(given["prompt_template"], given.get("ice_template"), compat=given.get("compat"))
    model = target(given.get("model", "messages"), meta_template=given.get("meta_template"))
    assert sent(dataset, model, given["row"], given.get("pool", [])) == given["sent"]
