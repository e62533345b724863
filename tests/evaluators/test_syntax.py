"""Reading a model's Python prints nothing."""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from evaluators.extractors.code import code_block
from evaluators.structures import CRUXEvalOEvaluator
from evaluators.syntax import literal, parsed, parsed_expression


@pytest.mark.parametrize("program", ["x = 1or 2", "'\\d'", "if x is 5: pass"])
def test_what_python_warns_of_is_not_shown(program):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        parsed(program)
        code_block(f"```python\n{program}\n```")
    assert shown == []


def test_an_expression_is_read_without_a_word():
    assert parsed_expression("1or 2").lineno == 1
    with pytest.raises(SyntaxError):
        parsed_expression("x = 1")


def test_a_literal_is_read_without_a_word():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert literal("'\\d'") == "\\d"
        assert CRUXEvalOEvaluator().observe("'\\d'", "'\\\\d'", {})
    assert shown == []


def test_threads_leave_the_filters_of_warnings_as_they_were():
    before, interval = list(warnings.filters), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with warnings.catch_warnings(), ThreadPoolExecutor(8) as pool:
            list(pool.map(parsed, ["x = 1\n" * 20] * 2000))
            after = list(warnings.filters)
    finally:
        sys.setswitchinterval(interval)
    assert after == before
