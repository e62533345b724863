"""How often the extractors find what a careful reader finds: ``python -m tests.evaluators.corpus.measure open``.

Precision: of the answers given, how many are right. Recall: of the answers there are, how many were found and right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from evaluators.extractors.boxed import boxed
from evaluators.extractors.choice import choice_letter
from evaluators.extractors.code import code_block
from evaluators.extractors.number import final_number
from leaderflow.core.reasoning import split_reasoning
from tests.evaluators.corpus.split import half

CORPUS = Path(__file__).parent / "answers.jsonl"

EXTRACTORS: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "choice": lambda text, row: choice_letter(text, row["options"]).value,
    "number": lambda text, row: final_number(text).value,
    "boxed": lambda text, row: boxed(text).value,
    "code": lambda text, row: code_block(text).value,
}


def rows(part: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one half."""
    with CORPUS.open(encoding="utf-8") as lines:
        yield from (row for line in lines if half((row := json.loads(line))["id"]) == part)


def found(row: dict[str, Any]) -> Any:
    """Return what our extractor finds, after the thinking is split off as inference does it."""
    _, answer = split_reasoning(row["text"])
    return EXTRACTORS[row["kind"]](answer, row) if answer is not None else None


def same(kind: str, value: Any, expect: str) -> bool:
    """Say whether a found value is the expected one: numbers as rationals, boxes and code but for their edges."""
    if value is None:
        return False
    if kind == "number":
        try:
            return Fraction(str(value)) == Fraction(expect)
        except (ValueError, ZeroDivisionError):
            return False
    return str(value).strip("\r\n ") == expect.strip("\r\n ")


def measure(part: str) -> dict[str, dict[str, Any]]:
    """Return by kind: rows, given, right, answerable, and what went wrong."""
    result: dict[str, dict[str, Any]] = {}
    for row in rows(part):
        kind = result.setdefault(row["kind"], {"rows": 0, "given": 0, "right": 0, "answerable": 0, "wrong": []})
        value = found(row)
        right = row["expect"] is not None and same(row["kind"], value, row["expect"])
        kind["rows"] += 1
        kind["given"] += value is not None
        kind["right"] += right
        kind["answerable"] += row["expect"] is not None
        if not right and not (value is None and row["expect"] is None):
            kind["wrong"].append({"id": row["id"], "expect": row["expect"], "found": value, "why": row["why"], "text": row["text"]})
    return result


def main() -> None:
    """Print the figures, and with ``--show`` what went wrong."""
    for kind, seen in measure(sys.argv[1] if len(sys.argv) > 1 else "open").items():
        precision, recall = seen["right"] / max(1, seen["given"]), seen["right"] / max(1, seen["answerable"])
        print(f"{kind:>7}: {seen['rows']} answers, precision {precision:.3f}, recall {recall:.3f}")
        for wrong in seen["wrong"] if "--show" in sys.argv else []:
            print(json.dumps(wrong, ensure_ascii=False)[:600])


if __name__ == "__main__":
    main()
