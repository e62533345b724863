"""Programs judged by what they print, and functions by what they return: APPS and TACO forms."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from evaluators.base import Rating
from evaluators.code.base import CodeEvaluator, detail_of, program_of
from leaderflow.core.errors import DataError
from leaderflow.core.sandbox import Job, Limits, Outcome, Program, Suite
from leaderflow.core.types import Json, Row

_BLOCK = 64

_CALLS = """
def _plain(value):
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value

try:
    _call = Solution().{name}
except NameError:
    _call = {name}
for _arguments, _wanted in _CASES:
    _got = _plain(_call(*_arguments))
    assert _got == _wanted or [_got] == _wanted, f"{{_arguments!r:.200}}: {{_got!r:.200}} instead of {{_wanted!r:.200}}"
"""


class StdinStdoutEvaluator(CodeEvaluator):
    """APPS and TACO (Hendrycks et al. 2021; Li et al. 2023): every test case of the row must give the expected output.

    Output is compared line by line, blanks at line ends and empty lines at the end apart; numbers with a decimal point agree within
    1e-6. Rows with ``fn_name`` call that function, or method of ``Solution``, instead. Metrics: the share of answers that
    pass all cases, and the mean share of cases passed (`cases`; for functions all or none).

    Args:
        column: the column with ``{inputs, outputs, fn_name?}``, as JSON text or a mapping.
        language: what the programs are written in (`leaderflow.core.sandbox.languages`).
        seconds: processor time of one case.
    """

    def __init__(self, column: str = "input_output", language: str = "python", seconds: float = 4.0) -> None:
        self.column, self.language = column, language
        self.needs, self.needs_sandbox = frozenset({column}), frozenset({language})
        self.limits = Limits(seconds=seconds, wall=6 * seconds)

    def check_row(self, reference: Json, row: Row) -> None:
        """See that the row has test cases."""
        _cases(row[self.column])

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return what each answer is worth. Outputs are large, so that a block of answers at a time is run."""
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(rows), _BLOCK)]
        return [rating for block in blocks for rating in self._block(predictions[block], rows[block])]

    def _block(self, predictions: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        cases = [_cases(row[self.column]) for row in rows]
        jobs = [self._jobs(program_of(p), case) for p, case in zip(predictions, cases, strict=True)]
        outcomes = self.outcomes([job for group in jobs for job in group])
        return [self._rated([outcomes[job] for job in group], case) for group, case in zip(jobs, cases, strict=True)]

    def _jobs(self, code: str, cases: dict[str, Any]) -> list[Job]:
        if not code.strip():
            return []
        if (name := cases.get("fn_name")) is not None:
            pairs = list(zip(cases["inputs"], cases["outputs"], strict=True))
            return [Suite((code,), f"_CASES = {pairs!r}\n{_CALLS.format(name=name)}", (name, "Solution"))]
        return [Program(code, self.language, _lines(given)) for given in cases["inputs"]]

    def _rated(self, outcomes: list[Outcome], cases: dict[str, Any]) -> Rating:
        if not outcomes:
            return Rating({self.metric: 0.0, "cases": 0.0}, False, detail_of(None))
        if cases.get("fn_name") is not None:
            marks = [outcome.passed for outcome in outcomes]
        else:
            pairs = zip(outcomes, cases["outputs"], strict=True)
            marks = [outcome.passed and same_output(outcome.stdout, _lines(wanted)) for outcome, wanted in pairs]
        first = next((i for i, mark in enumerate(marks) if not mark), None)
        detail = {"status": "passed", "message": ""} if first is None else _detail(outcomes[first], first, len(marks))
        return Rating({self.metric: float(first is None), "cases": sum(marks) / len(marks)}, first is None, detail)


def _detail(outcome: Outcome, case: int, cases: int) -> dict[str, str]:
    found = detail_of(outcome)
    if outcome.passed:
        found = {"status": "wrong", "message": f"printed {outcome.stdout[:200]!r}"}
    return {**found, "message": f"case {case + 1} of {cases}: {found['message']}"}


def _cases(value: Json) -> dict[str, Any]:
    """Read the cases of a row.

    Raises:
        DataError: they are not what they must be.
    """
    try:
        read = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        read = None
    found: dict[str, Any] = read if isinstance(read, dict) else {}
    inputs, outputs = found.get("inputs"), found.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or not inputs or len(inputs) != len(outputs):
        raise DataError("test cases must be {inputs: […], outputs: […]} with as many outputs as inputs, at least one")
    return found


def _lines(value: Json) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def same_output(printed: str, wanted: str) -> bool:
    """Return whether a program printed what was expected."""
    left, right = ([line.split() for line in text.rstrip().splitlines()] for text in (printed, wanted))
    if [len(line) for line in left] != [len(line) for line in right]:
        return False
    return all(_same_word(a, b) for x, y in zip(left, right, strict=True) for a, b in zip(x, y, strict=True))


def _same_word(printed: str, wanted: str) -> bool:
    if printed == wanted:
        return True
    try:
        return "." in wanted and math.isclose(float(printed), float(wanted), rel_tol=1e-6, abs_tol=1e-6)
    except ValueError:
        return False
