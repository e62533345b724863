"""A wider set of replies: what each extractor must find in them, or that it must find nothing (``value`` null)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderflow.core.registry import resolve

CASES = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][-40:])
def test_reply(case):
    arguments = {"options": case["options"]} if "options" in case else {}
    found = resolve("postprocessor", case["extractor"])(case["reply"], **arguments)
    assert found.value == case["value"]
    assert (found.start is None) == (found.value is None)
