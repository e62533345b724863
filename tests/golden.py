"""Finds the recorded vectors and the real data files, which lie beside the repository and are never part of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared"


def folder(variable: str, name: str) -> Path:
    """Return the folder that the variable names (default: beside the repository), or skip the test with the reason."""
    path = Path(os.environ.get(variable) or BESIDE / name)
    if not path.is_dir():
        pytest.skip(f"{path} is absent; set {variable} to the folder")
    return path


def golden(file: str) -> list[dict[str, Any]]:
    """Return the cases of a file of recorded vectors, or skip."""
    path = folder("LEADERFLOW_GOLDEN", "golden") / file
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def data_dir() -> Path:
    """Return the folder of real benchmark files, or skip."""
    return folder("LEADERFLOW_DATA", "data")


def run_cases(
    name: str,
    cases: Iterable[dict[str, Any]],
    check: Callable[[dict[str, Any]], str | None],
    excepted: Callable[[dict[str, Any]], str | None],
) -> None:
    """Run `check` (None or what is wrong) on every case, print the counts, and fail with the first unexpected differences.

    `excepted` returns a reason for a case whose recorded result is not to be matched; such a case must then really differ.
    """
    ran, failed, excused = 0, [], 0
    for case in cases:
        ran += 1
        wrong = check(case)
        if wrong is None:
            continue
        if excepted(case):
            excused += 1
        else:
            failed.append(f"{case.get('id') or case.get('key')}: {wrong}")
    print(f"{name}: {ran} cases ran, {len(failed)} failed, {excused} excepted")
    assert ran, f"{name} holds no case"
    assert not failed, f"{len(failed)} of {ran} differ:\n" + "\n".join(failed[:20])
