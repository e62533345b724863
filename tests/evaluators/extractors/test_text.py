"""Reasoning is hidden without moving a character."""

from __future__ import annotations

import pytest

from evaluators.extractors.choice import choice_letter
from evaluators.extractors.text import hide_reasoning, plain, turns

REPLIES = [
    ("<think>first<think>second</think>third</think>Answer: C", "Answer: C"),
    ("Oslo is Norwegian, so Lisbon.</think>\n\nAnswer: C", "Answer: C"),
    ("<think>\n\n</think>\n\nAnswer: C", "Answer: C"),
    ("<thinking>D? no.</thinking>Answer: C", "Answer: C"),
    ("<mm:think>D? no.</mm:think>Answer: C", "Answer: C"),
    ("<think>so</think>End the block with `</think>` as asked. Answer: C", "End the block with `</think>` as asked. Answer: C"),
    ("<think>Option D fits, as", ""),
    ("<think>```python\nx\n```</think>```python\ny\n```", "```python\ny\n```"),
    ("Answer: C\n<think>or D?</think>", "Answer: C"),
    ("Answer: C\n<think>or D?", "Answer: C"),
    ("◁think▷D?◁/think▷Answer: C", "Answer: C"),
    ("<|channel|>analysis<|message|>D?<|channel|>final<|message|>Answer: C", "Answer: C"),
    ("Answer: C", "Answer: C"),
]


@pytest.mark.parametrize(("reply", "visible"), REPLIES)
def test_reasoning_is_blanked(reply, visible):
    view = hide_reasoning(reply)
    assert view.strip() == visible
    assert len(view) == len(reply)
    assert choice_letter(reply).value == ("C" if "Answer: C" in visible else None)


def test_decoration_is_blanked():
    reply = "**Ｂ**（$x$）\\textbf{B}"
    assert plain(reply).split() == ["B", "(", "x", ")", "{B}"]
    assert len(plain(reply)) == len(reply)


def test_a_reply_is_cut_at_invented_questions():
    assert [part for _, part in turns("4\nQuestion: 5?\n5\nQ: 6?")] == ["4\n", "Question: 5?\n5\n", "Q: 6?"]
    assert [part for _, part in turns("Question: 5?\n5")] == ["Question: 5?\n5"]
