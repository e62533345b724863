"""Preferences are read in the benchmarks' own forms, and a reply that states two different ones has none."""

from __future__ import annotations

import pytest

from evaluators.judges.preference import preference


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("m", "A"),
        (" M\n", "B"),
        ('"M"', "B"),
        ("Both are fine. Final verdict: [[A]]", "A"),
        ("My final verdict is tie: [[A=B]]", "TIE"),
        ("[[B>>A]]", "B"),
        ("[[A>B]]", "A"),
        ("[[A<<B]]", "B"),
        ("[[B<A]]", "A"),
        ("[[C]]", "TIE"),
        ("选择：A\n原因：回答1更准确", "A"),
        ("**选择: C**\n原因：差不多", "TIE"),
        ('```\n{"analysis of A": "long", "choice": "B++",}\n```', "B"),
        ('{"choice": "A=B"}', "TIE"),
        ("Reasons.\nVERDICT: B", "B"),
        ("model M is better", None),
        ("", None),
        ("The answer quotes [[A]], but I say [[B]]", None),
        ("选择：A\n选择：B", None),
        ("A good answer", None),
        ('{"choice": "[A++ or A+ or A=B or B+ or B++]"}', None),
    ],
)
def test_replies(reply: str, label: str | None) -> None:
    assert preference(reply).value == label
