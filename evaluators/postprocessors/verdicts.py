"""Recorded summaries of an LLM judge's verdicts: outputs by row, each with a `prediction`, to metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluators.postprocessors.numbers import first_unsigned
from leaderflow.core.errors import DataError
from leaderflow.core.types import Json

Outputs = Mapping[str, Mapping[str, Json]]


def generic_verdict(text: str, true_tag: str = "A", false_tag: str = "B") -> str:
    """Return the first tag found anywhere in a judgement, ``unknown`` without one."""
    match = re.search(f"{re.escape(true_tag)}|{re.escape(false_tag)}", text)
    return match[0] if match else "unknown"


def three_way_verdict(text: str) -> str:
    """Return the first A, B or C found anywhere in a judgement, C (not attempted) without one."""
    match = re.search(r"[ABC]", text)
    return match[0] if match else "C"


def _shares(verdicts: list[str], true: str, false: str) -> tuple[int, int, float, float, float]:
    """Return the counts of true and false, the share of true among all, among the attempted, and the harmonic mean of both."""
    if not verdicts:
        raise DataError("no verdicts to summarise")
    right, wrong = verdicts.count(true), verdicts.count(false)
    share = right / len(verdicts)
    attempted = right / (right + wrong) if right + wrong else 0
    return right, wrong, share, attempted, 2 * share * attempted / (share + attempted) if share + attempted else 0


def _predictions(output: Outputs) -> list[str]:
    return [str(row["prediction"]) for row in output.values()]


def academic_summary(output: Outputs, metric_name: str = "accuracy") -> dict[str, float]:
    """Summarise verdicts A and B: percentages of right ones among all and among the attempted, and counts."""
    verdicts = [generic_verdict(text) for text in _predictions(output)]
    return _generic(verdicts, "A", "B", metric_name)


def generic_summary(output: Outputs, true_tag: str = "A", false_tag: str = "B") -> dict[str, float]:
    """Summarise verdicts of two tags as `academic_summary` does, with their f1 (in 0–1)."""
    verdicts = [generic_verdict(text, true_tag, false_tag) for text in _predictions(output)]
    return {**_generic(verdicts, true_tag, false_tag, "accuracy"), "f1": _shares(verdicts, true_tag, false_tag)[4]}


def _generic(verdicts: list[str], true: str, false: str, name: str) -> dict[str, float]:
    right, wrong, share, attempted, _ = _shares(verdicts, true, false)
    return {
        name: 100 * share,
        f"{name}_given_attempted": 100 * attempted,
        "attempted_ratio": 100 * (right + wrong) / len(verdicts),
        "correct_count": right,
        "incorrect_count": wrong,
        "not_attempted_count": len(verdicts) - right - wrong,
    }


def simpleqa_summary(output: Outputs) -> dict[str, float]:
    """Summarise verdicts A, B, C as SimpleQA does: two percentages and f1 (in 0–1)."""
    _, _, share, attempted, f1 = _shares([three_way_verdict(text) for text in _predictions(output)], "A", "B")
    return {"accuracy": 100 * share, "accuracy_given_attempted": 100 * attempted, "f1": f1}


def livereasonbench_summary(output: Outputs) -> dict[str, float]:
    """Summarise verdicts as `simpleqa_summary` does, without the accuracy."""
    return {name: value for name, value in simpleqa_summary(output).items() if name != "accuracy"}


def chinese_simpleqa_summary(output: Outputs) -> dict[str, float]:
    """Summarise verdicts A, B, C as Chinese SimpleQA does: shares of 1."""
    verdicts = [three_way_verdict(text) for text in _predictions(output)]
    _, wrong, share, attempted, f1 = _shares(verdicts, "A", "B")
    return {
        "correct": share,
        "incorrect": wrong / len(verdicts),
        "not_attempted": verdicts.count("C") / len(verdicts),
        "given_attempted_accuracy": attempted,
        "F1": f1,
    }


def aa_lcr_summary(output: Outputs) -> dict[str, float]:
    """Summarise verdicts CORRECT and INCORRECT: percentages of right ones among all and among the known, and counts."""
    verdicts = [match[0] if (match := re.search(r"\b(?:IN)?CORRECT\b", t.upper())) else "" for t in _predictions(output)]
    right, wrong = verdicts.count("CORRECT"), verdicts.count("INCORRECT")
    known = right + wrong
    return {
        "accuracy": 100 * right / len(verdicts) if verdicts else 0.0,
        "accuracy_unknown": 100 * right / known if known else 0.0,
        "correct_count": right,
        "incorrect_count": wrong,
        "unknown_count": len(verdicts) - known,
        "total": len(verdicts),
    }


def absolute_error_summary(output: Outputs) -> dict[str, float]:
    """Return the mean absolute error of the first numbers of the predictions (0 for none).

    Raises:
        DataError: a reference is no number.
    """
    errors = []
    for key, row in output.items():
        if not isinstance(row["gold"], int | float):
            raise DataError(f"row {key}: the reference must be a number, got {row['gold']!r}")
        errors.append(abs(row["gold"] - first_unsigned(str(row["prediction"]))))
    return {"mae": sum(errors) / len(errors) if errors else 0}
