from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from flows.result import Plan, PlannedCell
from leaderflow.cli.table import next_commands, print_plan, print_result, print_wide


def cell(**changes: Any) -> dict[str, Any]:
    base = {
        "model": "m",
        "dataset": "d",
        "metric": "accuracy",
        "value": 50.0,
        "scale": 100.0,
        "stderr": 1.0,
        "ci_low": 48.0,
        "ci_high": 52.0,
    }
    counts = dict.fromkeys(("n", "n_scored", "n_unparsed", "n_truncated", "n_filtered", "n_rejected", "n_failed"), 0)
    rest = {"version": "abcd1234", "mode": "gen", "group": False, "partial": False, "note": None}
    return {**base, **counts, **rest, **changes}


def result(**changes: Any) -> dict[str, Any]:
    base = {
        "run": "r1",
        "state": "completed",
        "message": "",
        "cells": [cell()],
        "tasks": {},
        "requests": {},
        "seconds": {},
        "errors": [],
    }
    return {**base, "manifest": "/s/runs/r1/manifest.json", "ui": None, **changes}


def printed(value: dict[str, Any]) -> str:
    file = io.StringIO()
    print_result(value, Console(file=file, width=200, markup=False, highlight=False))
    return file.getvalue()


def test_the_table_and_the_places() -> None:
    text = printed(result())
    assert "50.00 [48.00, 52.00]" in text
    assert "/s/runs/r1/manifest.json" in text
    assert "leaderflow show r1" in text
    assert "leaderflow trace r1 m:d" in text
    assert "finish" not in text


def test_an_incomplete_run_says_why_and_how_to_finish() -> None:
    errors = [{"cell": "m:d", "rows": 1, "class": "retryable", "message": "[/INST] \x1b[2J HTTP 500\n<html>"}]
    text = printed(
        result(state="incomplete", message="1 row is missing", errors=errors, cells=[cell(n=10, n_failed=1, partial=True)])
    )
    assert r"1 rows without an answer (retryable): [/INST] \x1b[2J HTTP 500 <html>" in text
    assert "1 row is missing" in text
    assert "d · m: 1 failed of 10" in text
    assert "leaderflow run /s/runs/r1/manifest.json" in text


def test_names_are_text() -> None:
    text = printed(result(cells=[cell(model="[red]m", dataset="[/]d\x1b")]))
    assert "[red]m" in text
    assert r"[/]d\x1b" in text


def test_a_group_that_lacks_members_says_so() -> None:
    assert "d · m: 40 of 57 members" in printed(result(cells=[cell(group=True, note="40 of 57 members")]))


def test_a_name_that_the_run_does_not_have_is_not_offered() -> None:
    absent = cell(dataset="nope", metric="-", value=None, version=None, note="the run has no dataset or group of this name")
    assert "leaderflow trace r1 m:d" in printed(result(cells=[absent, cell()]))


def test_metrics_of_a_cell_share_one_note() -> None:
    metrics = [cell(metric=name, n=4, n_unparsed=2) for name in ("avg@2", "pass@1", "majority@2")]
    assert printed(result(cells=metrics)).count("d · m: 2 unparsed of 4") == 1


def test_notes_are_few() -> None:
    text = printed(result(cells=[cell(dataset=f"d{i}", n=3, n_unparsed=3) for i in range(40)]))
    assert "3 unparsed of 3" in text
    assert "… and 28 more cells" in text


def test_the_metrics_of_one_cell_share_its_notes() -> None:
    text = printed(result(cells=[cell(metric=name, n=3, n_unparsed=3) for name in ("avg@4", "pass@1")]))
    assert text.count("3 unparsed of 3") == 1


@pytest.mark.parametrize(("width", "whole"), [(200, "run-1   "), (30, "path  " + "p" * 60)])
def test_a_table_that_is_too_wide_is_printed_line_by_line(width: int, whole: str) -> None:
    file = io.StringIO()
    print_wide(["run", "path"], [["run-1", "p" * 60]], Console(file=file, width=width, markup=False, highlight=False))
    assert whole in file.getvalue()


def test_next_commands_of_a_run_without_cells() -> None:
    assert next_commands(result(cells=[], state="failed", manifest=None)) == ["look     leaderflow show r1"]


def test_a_plan() -> None:
    file = io.StringIO()
    cell = PlannedCell(model="m", dataset="d", samples=5, shards=1, requests=5, answered=2, rejected=0)
    plan = Plan(cells=[cell], shards=1, requests=5, answered=2, to_ask=3)
    print_plan(plan.as_json(), Console(file=file, width=120))
    assert "5 requests: 2 already answered, 3 to ask. Nothing was written." in file.getvalue()
