"""The table of examples in docs/extraction.md is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leaderflow.core.registry import known, resolve

PAGE = (Path(__file__).parents[3] / "docs" / "extraction.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", PAGE.split("Examples, each")[1].split("## Recorded")[0], re.MULTILINE)


@pytest.mark.parametrize(("name", "reply", "value"), ROWS)
def test_example(name, reply, value):
    found = resolve("postprocessor", name)(reply.strip("`") if reply.startswith("`") else reply).value
    shown = "–" if found is None else found if isinstance(found, str) else json.dumps(found)
    assert shown == value


def test_every_type_that_the_page_names_is_registered():
    assert len(ROWS) > 20
    assert len(PAGE.splitlines()) <= 120
    for cell in re.findall(r"^\| (`[^|]+`) \|", PAGE, re.MULTILINE):
        assert set(re.findall(r"`([^`]+)`", cell)) <= set(known("postprocessor"))
