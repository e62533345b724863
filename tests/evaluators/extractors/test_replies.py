"""Plain replies: what each extractor must find in them, or that it must find nothing (``value`` null)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderflow.core.registry import resolve

CASES = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text(encoding="utf-8").splitlines()]


SCORED = ("choice_letter", "choice_letters", "final_number")
"""Extractors that weigh (`evaluators.extractors.scorer`): a few replies of many are misread, and printed."""


def found(case):
    arguments = {"options": case["options"]} if "options" in case else {}
    return resolve("postprocessor", case["extractor"])(case["reply"], **arguments)


@pytest.mark.parametrize("case", [c for c in CASES if c["extractor"] not in SCORED], ids=lambda case: case["reply"][-40:])
def test_reply(case):
    assert found(case).value == case["value"]


@pytest.mark.parametrize("extractor", SCORED)
def test_nearly_all_replies_are_read_right(extractor):
    own = [case for case in CASES if case["extractor"] == extractor]
    wrong = [f"{case['reply']!r}: {case['value']}, found {value}" for case in own if (value := found(case).value) != case["value"]]
    print(f"{extractor}: {len(own)} replies, {len(wrong)} misread", *wrong, sep="\n")
    assert len(wrong) <= 1 + len(own) / 100


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case["reply"][-40:])
def test_what_is_found_has_a_place(case):
    value = found(case)
    assert (value.start is None) == (value.value is None)
