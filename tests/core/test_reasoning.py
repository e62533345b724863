from __future__ import annotations

import pytest

from leaderflow.core.reasoning import split_reasoning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer: C", (None, "Answer: C")),
        ("  kept as it is \n", (None, "  kept as it is \n")),
        ("<think>x</think>Answer: C", ("x", "Answer: C")),
        ("\n<think>\nx\n</think>\n\nAnswer: C", ("x", "Answer: C")),
        ("<think>a<think>b</think>c</think>C", ("a<think>b</think>c", "C")),
        ("London is out.</think>\n\nC", ("London is out.", "C")),
        ("a<think>b</think>c</think>C", ("a<think>b</think>c", "C")),
        ("<think>\n\n</think>\n\nC", ("", "C")),
        ("<THINK>x</Think>C", ("x", "C")),
        ("<thinking>x</thinking>C", ("x", "C")),
        ("<mm:think>x</mm:think>C", ("x", "C")),
        ("<think>x</think><think>y</think>C", ("x\ny", "C")),
        ("<think>x</think>Write `</think>` at the end: C", ("x", "Write `</think>` at the end: C")),
        ("<think>x</think>Write </think> at the end: C", ("x", "Write </think> at the end: C")),
        ("Close it with `</think>`: C", (None, "Close it with `</think>`: C")),
        ("First: <think>hm</think> C", (None, "First: <think>hm</think> C")),
        ("<think>A fits because", ("A fits because", None)),
        ("<think>x</think><think>y", ("x\ny", None)),
        ("", (None, "")),
    ],
)
def test_split(text: str, expected: tuple[str | None, str | None]) -> None:
    assert split_reasoning(text) == expected


def test_other_tags() -> None:
    assert split_reasoning("<plan>x</plan>C", ["plan"]) == ("x", "C")
    assert split_reasoning("<think>x</think>C", ["plan"]) == (None, "<think>x</think>C")
