"""Python functions judged by unit tests: HumanEval and MBPP forms, and HumanEval+ inputs with a reference solution."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evaluators.code.assembly import completions, defined
from evaluators.code.base import CodeEvaluator, program_of
from evaluators.code.several import SeveralAnswers, ks
from evaluators.demands import Demand, text
from leaderflow.core.errors import DataError
from leaderflow.core.sandbox import Job, Limits, Suite
from leaderflow.core.types import Json, Row

_OUTPUT = 1 << 14
"""Bytes kept of what a function prints: nobody judges it."""


class FunctionTestsEvaluator(CodeEvaluator):
    """HumanEval (Chen et al. 2021): ``check(function)`` of column `test` on the function `entry_point` that `prompt` begins.

    The answer may be the body, or the whole function again. Unlike the official harness, tests and solution run in processes of
    their own, so that leaving early, printing success or an object that equals everything is wrong.

    Args:
        seconds: processor time of one solution (official: 3 s of wall-clock time, which a loaded machine spends elsewhere).
    """

    needs = frozenset({"prompt", "test", "entry_point"})
    demands = (text("prompt"), text("entry_point"))

    def __init__(self, seconds: float = 3.0) -> None:
        self.limits = Limits(seconds=seconds, wall=10 * seconds, output=_OUTPUT)

    def job(self, prediction: Any, reference: Any, row: Row) -> Job | None:
        """Return the tests of the row for the completed function."""
        code = program_of(prediction)
        if not code.strip():
            return None
        name = row["entry_point"]
        return Suite(self.readings(row["prompt"], code, name), self.tests(row), (name,), row["prompt"])

    def readings(self, prompt: str, code: str, name: str) -> tuple[str, ...]:
        """Return the ways in which the answer may be meant."""
        return completions(prompt, code, name)

    def tests(self, row: Row) -> str:
        """Return the statements that test the function."""
        return f"{row['test']}\ncheck({row['entry_point']})\n"


class HumanEvalEvaluator(SeveralAnswers, FunctionTestsEvaluator):
    """HumanEval as OpenCompass runs it: prompt and answer are joined as they are; an answer may be a list of several.

    Args:
        k: the k of pass@k over the answers of one task; the dataset's own `n` and `k` give pass@k as for any evaluator.
    """

    metric = "humaneval_pass@1"
    prefix = "humaneval_"

    def __init__(self, k: int | Sequence[int] = (1, 10, 100)) -> None:
        super().__init__()
        self.k = ks(k)

    def readings(self, prompt: str, code: str, name: str) -> tuple[str, ...]:
        """Return the plain join."""
        return (prompt + code,)


_PLUS = """
from copy import deepcopy
from math import isclose, isnan

def _same(got, wanted):
    if isinstance(wanted, float) or (_ATOL and isinstance(wanted, int) and not isinstance(wanted, bool)):
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return False
        return isclose(got, wanted, rel_tol=1e-7, abs_tol=_ATOL) or (isnan(wanted) and isnan(got))
    if isinstance(wanted, (list, tuple)):
        return type(got) is type(wanted) and len(got) == len(wanted) and all(map(_same, got, wanted))
    return got == wanted

for _case in _INPUTS:
    _wanted = _reference(*deepcopy(_case))
    _got = {name}(*deepcopy(_case))
    assert _same(_got, _wanted), f"{{_case!r:.200}}: {{_got!r:.200}} instead of {{_wanted!r:.200}}"
"""


class PlusTestsEvaluator(FunctionTestsEvaluator):
    """HumanEval+ (EvalPlus, Liu et al. 2023): the answer must agree with `canonical_solution` on `base_input` and `plus_input`.

    Floats agree within `atol` of the row or a relative 1e-7, as EvalPlus compares them; all else must be equal.
    """

    needs = frozenset({"prompt", "entry_point", "canonical_solution", "base_input", "plus_input"})

    def __init__(self, seconds: float = 10.0) -> None:
        super().__init__(seconds)

    def check_row(self, reference: Json, row: Row) -> None:
        """See that the row has inputs."""
        super().check_row(reference, row)
        for column in ("base_input", "plus_input"):
            _cases(row[column])

    def tests(self, row: Row) -> str:
        """Return a comparison with the reference solution on every input."""
        name, inputs = row["entry_point"], [*_cases(row["base_input"]), *_cases(row["plus_input"])]
        own = f"_own = {{}}\nexec({row['prompt'] + row['canonical_solution']!r}, _own)\n_reference = _own[{name!r}]\n"
        return f"{own}_ATOL = {float(row.get('atol') or 0)!r}\n_INPUTS = {inputs!r}\n{_PLUS.format(name=name)}"


class HumanEvalPlusEvaluator(SeveralAnswers, PlusTestsEvaluator):
    """HumanEval+ under its recorded name: prompt and answer are joined as they are; rows must carry the inputs of EvalPlus.

    Args:
        k: as for `HumanEvalEvaluator`.
    """

    metric = "humaneval_plus_pass@1"
    prefix = "humaneval_plus_"

    def __init__(self, k: int | Sequence[int] = (1, 10, 100)) -> None:
        super().__init__()
        self.k = ks(k)

    def readings(self, prompt: str, code: str, name: str) -> tuple[str, ...]:
        """Return the plain join."""
        return (prompt + code,)


def _cases(value: Json) -> list[Json]:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise DataError("base_input and plus_input must be lists of argument lists")
    return found


class AssertionTestsEvaluator(CodeEvaluator):
    """MBPP (Austin et al. 2021): the answer must make all assertions of the row true.

    Args:
        tests: the column with the assertions, a list or text.
        setup: the column with statements to run before them, where the rows have it.
        seconds: processor time of one solution.
    """

    def __init__(self, tests: str = "test_list", setup: str = "test_setup_code", seconds: float = 5.0) -> None:
        self.columns = (setup, tests)
        self.needs = frozenset({tests})
        self.demands = (Demand("text or a list of texts", _is_code, tests),)
        self.limits = Limits(seconds=seconds, wall=6 * seconds, output=_OUTPUT)

    def job(self, prediction: Any, reference: Any, row: Row) -> Job | None:
        """Return the assertions for the program."""
        code = program_of(prediction)
        if not code.strip():
            return None
        names = defined(reference) if isinstance(reference, str) else ()
        return Suite((code,), "\n".join(_text(row.get(column)) for column in self.columns), names)


def _is_code(value: Json) -> bool:
    return bool(value) and (isinstance(value, str) or all(isinstance(line, str) for line in value))


def _text(value: Json) -> str:
    return "\n".join(value) if isinstance(value, list) else value or ""
