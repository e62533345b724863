"""Tags and JSON values."""

from __future__ import annotations

import pytest

from evaluators.extractors.structured import json_value, tag_content


@pytest.mark.parametrize(
    ("reply", "tag", "content"),
    [
        ("<answer> B </answer>", "answer", "B"),
        ("<ANSWER>B</ANSWER>", "<answer>", "B"),
        ("<answer>A</answer> no, <answer>B</answer>", "answer", "B"),
        ("<score kind='x'>7</score>", "score", "7"),
        ("<answer>two\nlines</answer>", "answer", "two\nlines"),
        ("<answer>cut off", "answer", None),
        ("put it in <answer> tags: <answer>B</answer>", "answer", "B"),
        ("<think><answer>A</answer></think>", "answer", None),
        ("<answers>B</answers>", "answer", None),
    ],
)
def test_tags(reply, tag, content):
    assert tag_content(reply, tag).value == content


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here: {"a": {"b": [1, 2]}} done', {"a": {"b": [1, 2]}}),
        ('```json\n{"a": "}"}\n```', {"a": "}"}),
        ('{"a": 1} then {"a": 2}', {"a": 2}),
        ('{"a": 1} as [1] says', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ('{"a": NaN}', None),
        ('{"a": 1', None),
        ("{bad}", None),
        ("none", None),
        ('<think>{"a": 1}</think>', None),
    ],
)
def test_json(reply, value):
    assert json_value(reply).value == value


def test_a_key_of_the_last_object_that_has_it():
    assert json_value('{"answer": "B"} {"note": 1}', key="answer").value == "B"
    assert json_value('{"note": 1}', key="answer").value is None
