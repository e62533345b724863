from __future__ import annotations

import pytest

from leaderflow.core.text import dollars, printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[bold red]not red[/] [0]", "[bold red]not red[/] [0]"),
        ("\x1b]0;owned\x07\x1b[31mred\x1b[2J", r"\x1b]0;owned\x07\x1b[31mred\x1b[2J"),
        ("a\rb", r"a\rb"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u2028b\u2066c", r"a\u2028b\u2066c"),
        ("\ud83d", r"\ud83d"),
        ("one\n\ttwo", "one\n\ttwo"),
        ("👩\u200d🔬 日本語 é", "👩\u200d🔬 日本語 é"),
        (r"C:\new", r"C:\new"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_one_line() -> None:
    assert printable("a\nb\tc", one_line=True) == r"a\nb\tc"
    assert shortened("a\n  b\x1b" + "x" * 50, 10) == "a b\\x1bxxxx"[:9] + "…"
    assert len(shortened("x" * 50, 10)) == 10


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "0.00 USD"), (12.347, "12.35 USD"), (0.05, "0.05 USD"), (0.000648, "0.00065 USD"), (1e-7, "0.0000001 USD")],
)
def test_dollars(amount: float, shown: str) -> None:
    assert dollars(amount) == shown
