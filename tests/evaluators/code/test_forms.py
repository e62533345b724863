"""What the evaluators that execute code make of whole functions, bodies, programs and tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluators.code.assembly import completions, defined
from evaluators.code.languages import joined
from evaluators.code.stdio import same_output
from evaluators.extractors.code import code_block
from leaderflow.core.errors import DataError, UsageError
from leaderflow.core.registry import build

PROMPT = 'from typing import List\n\n\ndef total(xs: List[int]) -> int:\n    """Add all numbers."""\n'
ROW = {"prompt": PROMPT, "entry_point": "total", "test": "def check(f):\n    assert f([1, 2]) == 3\n    assert f([]) == 0\n"}


def verdicts(evaluator: dict[str, Any], answers: list[str], row: dict[str, Any], reference: Any = None) -> list[bool | None]:
    ratings = build("evaluator", evaluator).rate(answers, [reference] * len(answers), [row] * len(answers))
    assert all(rating.detail["status"] and bool(rating.detail["message"]) != rating.correct for rating in ratings)
    return [rating.correct for rating in ratings]


def test_a_body_a_whole_function_and_one_in_prose_are_all_read() -> None:
    replies = {
        "a body": "    return sum(xs)\n",
        "a body without its indentation": "result = sum(xs)\nreturn result",
        "a body whose first line lost it": "result = 0\n    for x in xs:\n        result += x\n    return result",
        "a whole function": "```python\ndef total(xs: List[int]) -> int:\n    return sum(xs)\n```",
        "with imports": (
            "```python\nfrom functools import reduce\n\ndef total(xs):\n    return reduce(lambda a, b: a + b, xs, 0)\n```"
        ),
        "in prose": (
            "Here it is:\n\n```python\ndef helper(x):\n    return x\n\ndef total(xs):\n    return sum(map(helper, xs))\n```\nDone."
        ),
        "a name": "total = sum",
        "after a draft": (
            "<think>\n```python\ndef total(xs): return 0\n```\n</think>\n```python\ndef total(xs):\n    return sum(xs)\n```"
        ),
        "an indented function": "  def total(xs):\n      return sum(xs)\n",
    }
    found = [code_block(reply).value or reply for reply in replies.values()]
    assert dict(zip(replies, verdicts({"type": "FunctionTestsEvaluator"}, found, ROW), strict=True)) == dict.fromkeys(replies, True)


def test_wrong_programs_and_none_do_not_pass() -> None:
    answers = [
        "    return 0\n",
        "",
        "   ",
        "def other(xs): return sum(xs)",
        "    return sum(",
        "import sys\nsys.exit(0)\n\ndef total(xs): return 3",
    ]
    assert verdicts({"type": "FunctionTestsEvaluator"}, answers, ROW) == [False] * len(answers)


def test_the_recorded_evaluator_joins_prompt_and_answer_as_they_are() -> None:
    answers = ["    return sum(xs)\n", "return sum(xs)", "def total(xs):\n    return sum(xs)\n"]
    assert verdicts({"type": "HumanEvalEvaluator", "k": [1]}, answers, ROW) == [True, False, True]


def test_every_reading_of_a_body_is_tried() -> None:
    assert completions("def f():\n", "    return 1", "f") == ("def f():\n    return 1",)
    assert len(completions("def f():", "return 1", "f")) == 3
    assert completions("def f():\n", "def f():\n    return 1", "f")[0].endswith("pass\ndef f():\n    return 1")
    assert defined("import x\nclass A:\n    def m(self): ...\n\nasync def f(): ...\ndef g(): ...") == ("A", "f", "g")


def test_plus_inputs_are_compared_with_the_reference_solution() -> None:
    row = ROW | {
        "canonical_solution": "    return sum(xs)\n",
        "base_input": [[[1, 2]]],
        "plus_input": [[[]], [[2**70, 1]], [[0.1, 0.2]]],
        "atol": 0,
    }
    answers = [
        "    return sum(xs)",
        "    return sum(x for x in xs if x < 100)",
        "    return sum(xs) + 1e-9",
        "    return str(sum(xs))",
    ]
    assert verdicts({"type": "PlusTestsEvaluator"}, answers, row) == [True, False, False, False]
    assert verdicts({"type": "PlusTestsEvaluator"}, answers[2:3], row | {"atol": 1e-6}) == [True]
    assert verdicts({"type": "HumanEvalPlusEvaluator"}, answers[:2], row | {"plus_input": json.dumps(row["plus_input"])}) == [
        True,
        False,
    ]


def test_assertions_may_need_setup_and_several_definitions() -> None:
    row = {
        "test_setup_code": "import math\nroot = Node(3)",
        "test_list": ["assert value(root) == math.floor(3.5)", "assert LIMIT > 1"],
    }
    answer = "class Node:\n    def __init__(self, v): self.v = v\ndef value(n): return n.v\nLIMIT = 2"
    assert verdicts({"type": "AssertionTestsEvaluator"}, [answer, answer.replace("= 2", "= 0")], row, answer) == [True, False]
    assert verdicts(
        {"type": "AssertionTestsEvaluator", "tests": "asserts"}, ["def f(): return 1"], {"asserts": "assert f() == 1"}
    ) == [True]


CASES = {"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]}


def test_programs_are_judged_by_what_they_print() -> None:
    evaluator = build("evaluator", {"type": "StdinStdoutEvaluator"})
    answers = ["print(sum(map(int, input().split())))", "print(3)", "print(3", "import time\ninput()\nraise SystemExit(3)", ""]
    row = {"input_output": json.dumps(CASES)}
    ratings = evaluator.rate(answers, None, [row] * len(answers))
    assert [rating.correct for rating in ratings] == [True, False, False, False, False]
    assert [rating.values["cases"] for rating in ratings] == [1.0, 0.5, 0.0, 0.0, 0.0]
    assert ratings[1].detail == {"status": "wrong", "message": "case 2 of 2: printed '3\\n'"}
    assert evaluator.combine(ratings) == {"pass@1": 20.0, "cases": 30.0}


def test_functions_of_stdin_rows_are_called() -> None:
    row = {"input_output": {"fn_name": "both", "inputs": [[1, 2], [3, 4]], "outputs": [[[1, 2]], [3, 4]]}}
    answers = [
        "def both(a, b): return (a, b)",
        "class Solution:\n    def both(self, a, b):\n        return [a, b]",
        "def both(a, b): return [b, a]",
    ]
    assert verdicts({"type": "StdinStdoutEvaluator"}, answers, row) == [True, True, False]


@pytest.mark.parametrize(
    ("printed", "wanted", "same"),
    [
        ("3", "3\n", True),
        ("3 \n\n", "3\n", True),
        ("1 2", "1\n2", False),
        ("0.3333333", "0.33333333", True),
        ("0.33", "0.33333333", False),
        ("3.0", "3", False),
        ("yes", "YES", False),
        ("", "", True),
        ("x", "1.5", False),
    ],
)
def test_output_is_compared_line_by_line(printed: str, wanted: str, same: bool) -> None:
    assert same_output(printed, wanted) is same


@pytest.mark.parametrize("cases", ["{}", '{"inputs": [], "outputs": []}', '{"inputs": ["1"], "outputs": []}', "[1]"])
def test_rows_without_good_cases_are_refused(cases: str) -> None:
    with pytest.raises(DataError, match="test cases must be"):
        build("evaluator", {"type": "StdinStdoutEvaluator"}).rate(["print(1)"], None, [{"input_output": cases}])


LANGUAGES: dict[str, dict[str, Any]] = {
    "javascript": {
        "prompt": "// twice x\nconst twice = (x) => {\n",
        "test": "const t = () => { console.assert(twice(2) === 4) }\nt()\n",
        "right": ["  return 2 * x\n}\n", "const twice = (x) => x + x;", "function twice(x) { return 2 * x }"],
        "wrong": ["  return x\n}\n", "process.exit(0)\n}\n", "  return (\n}\n"],
    },
    "cpp": {
        "prompt": "#include <vector>\n// twice x\nint twice(int x){\n",
        "test": "#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (twice(2) == 4);\n    return 0;\n}\n",
        "right": ["    return 2 * x;\n}\n", "#include <cmath>\nint twice(int x) { return x + x; }"],
        "wrong": [
            "    return x;\n}\n",
            "    _Exit(0);\n}\n#include <stdlib.h>\n",
            "    return\n}\n",
            "#include <stdlib.h>\nint twice(int x) { exit(0); }",
        ],
    },
    "bash": {
        "prompt": "#!/bin/bash\n# twice $1\ntwice() {\n",
        "test": '}\n\nset -e\n[[ $(twice 2) = "4" ]]\n',
        "right": ["    echo $((2 * $1))\n", "twice() {\n    echo $(($1 + $1))\n}"],
        "wrong": ["    echo $1\n", "}\nexit 0\nf() {\n", "    echo $((\n"],
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_languages(language: str) -> None:
    case = LANGUAGES[language]
    found = verdicts({"type": "LanguageTestsEvaluator", "language": language}, case["right"] + case["wrong"], case)
    assert found == [True] * len(case["right"]) + [False] * len(case["wrong"])


def test_of_the_prompt_of_a_whole_function_its_head_stays() -> None:
    program, test = joined("cpp", "#include <vector>\nint f(int x){\n", "int f(int x) { return 1; }", "}\nint main() {}")
    assert program == "#include <vector>\nint f(int x) { return 1; }\n"
    assert test == "\nint main() {}"


def test_helpers_that_come_again_are_not_taken_twice() -> None:
    prompt = "const fs = require('fs')\nconst help = (x) => {\n  return x\n}\n// twice\nconst f = (x) => {\n"
    code = "const help = (x) => x\nconst f = (x) => {\n  let f = 2\n  return help(x) * f\n}"
    assert joined("javascript", prompt, code, "")[0] == f"const fs = require('fs')\n{code}\n"
    body = "  let f = 2\n  return help(x) * f\n}"
    assert joined("javascript", prompt, body, "")[0] == prompt + body


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cannot be run here .* did you mean 'javascript'"):
        build("evaluator", {"type": "LanguageTestsEvaluator", "language": "javascrip"})


def test_equal_answers_run_once() -> None:
    evaluator = build("evaluator", {"type": "FunctionTestsEvaluator"})
    jobs = [evaluator.job("    return sum(xs)", None, ROW)] * 500
    assert len(evaluator.outcomes(jobs)) == 1


def test_recorded_evaluators_take_several_answers_to_a_task() -> None:
    answers = [["    return sum(xs)", "    return 0", "    return sum(xs)"], ["    return 1", "", "    return sum(xs)"]]
    evaluator = build("evaluator", {"type": "HumanEvalEvaluator", "k": [1, 2, 10]})
    metrics = evaluator.measure(answers, ["a", "b"], [ROW, ROW])
    assert metrics == pytest.approx({"humaneval_pass@1": 50.0, "humaneval_pass@2": 100 * (1 + 2 / 3) / 2})
    flat = [answer for group in answers for answer in group]
    assert evaluator.measure(flat, ["a"] * 3 + ["b"] * 3, [ROW] * 6) == pytest.approx(metrics)
    one_by_one = evaluator.measure([flat[0], flat[1]], None, [ROW, ROW])
    assert one_by_one == pytest.approx({"humaneval_pass@1": 50.0})


def test_mbpp_outcomes_are_counted() -> None:
    answers = ["```python\ndef f(): return 1\n```", "def f(): return 2", "def f(): return 1/0", ""]
    metrics = build("evaluator", {"type": "MBPPEvaluator2"}).measure(answers, ["assert f() == 1"] * 4)
    assert metrics == {"score": 25.0, "pass": 1, "timeout": 0, "failed": 2, "wrong_answer": 1}
