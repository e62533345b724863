from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from flows.progress import Count, duration
from leaderflow.cli import progress as module
from leaderflow.cli.progress import Bars, PlainLines, progress
from leaderflow.core.types import Answer

HOSTILE = "m:[/red]\x1b[2J\n"
SHOWN = r"m:[/red]\x1b[2J\n"


def test_lines_elsewhere_than_on_a_terminal() -> None:
    lines: list[str] = []
    shown = PlainLines(lines.append, every=0.0)
    shown.line("note \x1b[31m[0]")
    shown.cell(HOSTILE, 3, 1)
    shown.answered(HOSTILE, Answer("k", "ok", "x", output_tokens=1200))
    shown.answered(HOSTILE, Answer("l", "error"))
    shown.finish()
    assert lines[0] == r"note \x1b[31m[0]"
    assert all(line.startswith(f"{SHOWN}: ") for line in lines[1:])
    assert "2/3" in lines[-2]
    assert "left" in lines[-2]
    assert "3/3" in lines[-1]
    assert "1,200 tokens" in lines[-1]
    assert "1 failed" in lines[-1]


def test_lines_are_few() -> None:
    lines: list[str] = []
    shown = PlainLines(lines.append, every=3600.0)
    shown.cell("m:d", 100, 0)
    for _ in range(100):
        shown.answered("m:d", Answer("k", "ok", "x"))
    shown.finish()
    assert len(lines) == 1


def test_a_cell_that_earlier_runs_answered_says_nothing() -> None:
    lines: list[str] = []
    shown = PlainLines(lines.append, every=0.0)
    shown.cell("m:d", 100, 100)
    shown.finish()
    assert lines == []


def test_bars_on_a_terminal_show_hostile_names_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system=None, width=160, markup=False, highlight=False)
    monkeypatch.setattr(module, "err", lambda: console)
    shown = Bars()
    shown.cell(HOSTILE, 4, 1)
    shown.answered(HOSTILE, Answer("k", "ok", "x", output_tokens=7))
    shown.line("[bold]\x1b]0;t\x07")
    shown.finish()
    text = file.getvalue()
    assert SHOWN in text
    assert "2/4" in text
    assert "7 tokens" in text
    assert r"[bold]\x1b]0;t\x07" in text
    assert "\x1b]0;t" not in text


def test_a_large_run_shows_one_bar_for_all_and_those_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system=None, width=160, markup=False, highlight=False)
    monkeypatch.setattr(module, "err", lambda: console)
    shown = Bars()
    for i in range(20):
        shown.cell(f"m:d{i}", 2, 0)
    for i in (0, 0, 1):
        shown.answered(f"m:d{i}", Answer("k", "ok", "x"))
    file.seek(0)
    file.truncate()
    shown.finish()
    last = file.getvalue()
    assert "3/40" in last
    assert "20 cells" in last
    assert "m:d1 " in last
    assert "m:d0 " not in last
    assert "m:d7 " not in last


def test_what_fits_stderr() -> None:
    assert isinstance(progress(), PlainLines)


def test_durations() -> None:
    assert [duration(s) for s in (5, 89, 600, 11100)] == ["5 s", "89 s", "10 min", "3 h 05 min"]


def test_a_slow_model_is_told_by_the_time_of_an_answer() -> None:
    told = Count(total=8, answered=2, started=time.monotonic() - 60).describe()
    assert "30.0 s each" in told
    assert "tokens" not in told


def test_time_that_a_cell_waits_for_its_turn_is_not_time_of_its_answers() -> None:
    count = Count(total=3, started=time.monotonic() - 600)
    count.add(Answer("k", "ok", latency_s=20.0))
    assert "20.0 s each" in count.describe()
    assert "40 s left" in count.describe()
    count.add(Answer("l", "ok", latency_s=500.0))
    assert "10.0 s each" in count.describe()
