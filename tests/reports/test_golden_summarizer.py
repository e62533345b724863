"""The summary table against the recorded behaviour of OpenCompass."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from reports.opencompass_table import RANKED, Board, as_csv, as_markdown, table
from tests.golden import golden, run_cases

pytestmark = pytest.mark.golden


def floats(value: Any) -> Any:
    """Undo the corpus' spelling of numbers that JSON lacks."""
    if isinstance(value, dict):
        return float(value["__float__"]) if set(value) == {"__float__"} else {k: floats(v) for k, v in value.items()}
    return [floats(v) for v in value] if isinstance(value, list) else value


def in_file_order(case: dict[str, Any]) -> dict[str, Any]:
    """Return the results with the unranked metrics as their files had them: the corpus sorts keys, the recorded order tells."""
    recorded = (case.get("expected") or next(iter(case.get("expected_any_of", [])), {})).get("dataset_metrics", {})

    def place(dataset: str, metric: str) -> int:
        known = [] if metric in RANKED else recorded.get(dataset, [])
        return known.index(metric) if metric in known else len(known)

    results = floats(case["input"]["results"])
    return {
        model: {name: dict(sorted(own.items(), key=lambda item: place(name, item[0]))) for name, own in datasets.items()}
        for model, datasets in results.items()
    }


def asked_for(case: dict[str, Any]) -> list[Any] | None:
    """Return `dataset_abbrs`; a group that shares several metrics, asked for by name alone, shows one of them by chance."""
    recorded = case.get("expected", {}).get("dataset_metrics", {})
    by_chance = {n: recorded[n][0] for n in case.get("order_unstable_groups", ()) if len(set(recorded.get(n, ()))) > 2}
    abbrs = case["input"]["dataset_abbrs"]
    return abbrs and [[item, by_chance[item]] if isinstance(item, str) and item in by_chance else item for item in abbrs]


def check(case: dict[str, Any]) -> str | None:
    given = case["input"]
    try:
        found, board = table(given["models"], given["datasets"], in_file_order(case), given["summary_groups"], asked_for(case))
    except Exception as exc:
        return None if "expected_error" in case else f"raised {exc!r}"
    if "expected_error" in case:
        return f"should fail with {case['expected_error']['class']}"
    wrong = [differs(found, board, wanted, case) for wanted in case.get("expected_any_of") or [case["expected"]]]
    return None if None in wrong else wrong[0]


def differs(found: list[list[str]], board: Board, wanted: dict[str, Any], case: dict[str, Any]) -> str | None:
    loose = set(case.get("order_unstable_groups", ()))
    if settled(found, loose) != settled(wanted["table"], loose):
        return f"table {found} != {wanted['table']}"
    if not loose and (as_csv(found), as_markdown(found)) != (wanted["csv"], wanted["md"]):
        return f"files {as_csv(found)!r} {as_markdown(found)!r}"
    if sorted(as_csv(found).splitlines()) != sorted(wanted["csv"].splitlines()):
        return f"csv {as_csv(found)!r} != {wanted['csv']!r}"
    if not same(board.parsed, floats(wanted["parsed_results"])):
        return f"parsed {board.parsed} != {wanted['parsed_results']}"
    if {k: sorted(v) if k in loose else v for k, v in board.metrics.items()} != {
        k: sorted(v) if k in loose else v for k, v in wanted["dataset_metrics"].items()
    }:
        return f"metrics {board.metrics} != {wanted['dataset_metrics']}"
    return None if board.modes == wanted["eval_mode"] else f"modes {board.modes} != {wanted['eval_mode']}"


def settled(lines: list[list[str]], loose: set[str]) -> list[list[str]]:
    """Bring the rows of groups whose order was left to chance into one order."""
    own = iter(sorted(line for line in lines if line[0] in loose))
    return [next(own) if line[0] in loose else line for line in lines]


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
    return math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-12) or (math.isnan(found) and math.isnan(wanted))


EXCEPTED: dict[str, str] = {}
"""What of a case (a substring of its note) → why its recorded result is not matched."""


def excepted(case: dict[str, Any]) -> str | None:
    return next((why for what, why in EXCEPTED.items() if what in json.dumps(case.get("note", ""))), None)


def test_tables_are_as_recorded() -> None:
    run_cases("summarizer", golden("summarizer.jsonl"), check, excepted)
