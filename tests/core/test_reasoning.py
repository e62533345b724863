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
        ("\ufeff<think>x</think>\u200bC", ("x", "\u200bC")),
        ("", (None, "")),
    ],
)
def test_split(text: str, expected: tuple[str | None, str | None]) -> None:
    assert split_reasoning(text) == expected


def test_other_tags() -> None:
    assert split_reasoning("<plan>x</plan>C", ["plan"]) == ("x", "C")
    assert split_reasoning("<think>x</think>C", ["plan"]) == (None, "<think>x</think>C")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[THINK]B? No.[/THINK]Answer: C", ("B? No.", "Answer: C")),
        ("[THINK]B? No", ("B? No", None)),
        ("[Think] of a number. Answer: C", (None, "[Think] of a number. Answer: C")),
        ("\u25c1think\u25b7B?\u25c1/think\u25b7Answer: C", ("B?", "Answer: C")),
        ("<|START_THINKING|>B?<|END_THINKING|>Answer: C", ("B?", "Answer: C")),
        ("<|begin_of_thought|>B?\n<|end_of_thought|>\n\nAnswer: C", ("B?", "Answer: C")),
        ("<|begin_of_thought|>B? No", ("B? No", None)),
        ("<think >B?</think\n>Answer: C", ("B?", "Answer: C")),
    ],
)
def test_other_spellings_of_the_tag(text: str, parts: tuple[str | None, str | None]) -> None:
    assert split_reasoning(text) == parts


def test_channels() -> None:
    thought = "<|channel|>analysis<|message|>B? No.<|end|>"
    final = "<|start|>assistant<|channel|>final<|message|>Answer: C"
    assert split_reasoning(thought + final + "<|return|>") == ("B? No.", "Answer: C")
    assert split_reasoning(f"<|start|>assistant{thought}{final}") == ("B? No.", "Answer: C")
    assert split_reasoning(final.removeprefix("<|start|>assistant")) == (None, "Answer: C")
    assert split_reasoning("<|channel|>analysis<|message|>B? No") == ("B? No", None)
    assert split_reasoning("<|channel|>analysis<|message|>B? No<|channel|>final<|message|>Answer: C") == ("B? No", "Answer: C")
