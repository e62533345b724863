"""How often the extractors find what a careful reader finds: ``python -m tests.evaluators.corpus.measure [open|sealed|all]``.

Precision: of the answers given, how many are right. Recall: of the answers there are, how many were found and right. The recorded
postprocessors of OpenCompass are measured beside, on the same answers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from leaderflow.core.reasoning import split_reasoning
from leaderflow.core.registry import resolve
from leaderflow.core.types import Extraction
from tests.evaluators.corpus.split import half

FOLDER = Path(__file__).parent
KINDS = ("choice", "number", "boxed", "code")
OURS = {"choice": "choice_letter", "number": "final_number", "boxed": "boxed", "code": "code_block"}
RECORDED = {
    "choice": ("first_option_postprocess", "first-capital"),
    "number": ("gsm8k", "math_postprocess", "math_postprocess_v2"),
    "boxed": ("math.extract_boxed_answer", "math_postprocess", "math_postprocess_v2"),
    "code": ("humaneval_postprocess_v2", "mbpp.MBPPEvaluator._process_answer", "mbpp.MBPPEvaluator2._process_answer"),
}
"""The recorded postprocessors that are meant for a kind of answer."""
WITH_OPTIONS = ("choice_letter", "first_option_postprocess")
NOTHING = (None, "", "NULL")
"""What the recorded postprocessors return where they find no answer."""


@dataclass
class Figures:
    """How one extractor did on the answers of one kind."""

    rows: int = 0
    given: int = 0
    right: int = 0
    answerable: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Of the answers given, how many are right."""
        return self.right / max(1, self.given)

    @property
    def recall(self) -> float:
        """Of the answers there are, how many were found and right."""
        return self.right / max(1, self.answerable)

    def add(self, row: dict[str, Any], value: Any) -> None:
        """Count one answer."""
        right = row["expect"] is not None and same(row["kind"], value, row["expect"])
        self.rows += 1
        self.given += value is not None
        self.right += right
        self.answerable += row["expect"] is not None
        if not right and not (value is None and row["expect"] is None):
            self.wrong.append({"id": row["id"], "expect": row["expect"], "found": value, "why": row["why"], "text": row["text"]})


def rows(files: Iterable[Path], part: str = "all") -> Iterator[dict[str, Any]]:
    """Yield the rows of some corpora, or of one half of them."""
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if part in ("all", half(row["id"])):
                yield row


def found(row: dict[str, Any], name: str | None = None) -> Any:
    """Return what an extractor (default: ours) finds, after the thinking is split off as inference does it; None for nothing."""
    name = name or OURS[row["kind"]]
    _, answer = split_reasoning(row["text"])
    if answer is None:
        return None
    extract: Callable[..., Any] = resolve("postprocessor", name)
    value = extract(answer, **({"options": row["options"]} if name in WITH_OPTIONS else {}))
    value = value.value if isinstance(value, Extraction) else value
    return None if value in NOTHING else value


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


def measure(answers: Iterable[dict[str, Any]], *, recorded: bool = False) -> dict[tuple[str, str], Figures]:
    """Return the figures by kind and extractor."""
    result: dict[tuple[str, str], Figures] = {}
    for row in answers:
        for name in (OURS[row["kind"]], *(RECORDED[row["kind"]] if recorded else ())):
            result.setdefault((row["kind"], name), Figures()).add(row, found(row, name))
    return result


def main() -> None:
    """Print the figures, and with ``--show`` what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("half", nargs="?", choices=("open", "sealed", "all"), default="open")
    parser.add_argument("--corpus", nargs="+", type=Path, default=[FOLDER / "answers.jsonl"], help="files of answers")
    parser.add_argument("--show", action="store_true", help="print what our extractors get wrong")
    chosen = parser.parse_args()
    figures = measure(rows(chosen.corpus, chosen.half), recorded=True)
    for kind, name in sorted(figures, key=lambda key: KINDS.index(key[0])):
        seen = figures[kind, name]
        print(f"{kind:>7} {name:<38} {seen.rows} answers, precision {seen.precision:.3f}, recall {seen.recall:.3f}")
        for wrong in seen.wrong if chosen.show and name == OURS[kind] else []:
            print(json.dumps(wrong, ensure_ascii=False)[:600])


if __name__ == "__main__":
    main()
