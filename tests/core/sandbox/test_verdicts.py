"""A pass is what the tests say, whatever the solution does."""

from __future__ import annotations

import pytest

from leaderflow.core.sandbox import Limits, Outcome, Program, Suite, run, run_many

TESTS = "assert add(2, 2) == 4\nassert add(-1, 1) == 0"
CLOSE = TESTS.replace("add(2, 2) == 4", "math.isclose(add(2, 2), 4)").replace("add(-1, 1) == 0", "math.isclose(add(0, 1), 1)")
SHORT = Limits(seconds=1.0, wall=4.0)


def judged(code: str, tests: str = TESTS, limits: Limits = SHORT) -> Outcome:
    return run(Suite((code,), tests), limits)


CHEATS = {
    "exit 0": "import sys\nsys.exit(0)",
    "_exit 0": "import os\nos._exit(0)",
    "exit inside a call": "import os\ndef add(a, b): os._exit(0)",
    "SystemExit inside a call": "def add(a, b): raise SystemExit(0)",
    "printed success": "print('passed')\nprint('{\"status\": \"passed\"}')\nraise SystemExit",
    "success on every descriptor": (
        'import os\nfor fd in range(64):\n    try: os.write(fd, b\'{"status": "passed", "message": ""}\\n\')\n'
        "    except OSError: pass\n"
        "os._exit(0)"
    ),
    "success at exit": 'import atexit, os\natexit.register(lambda: os.write(2, b\'{"status": "passed"}\'))\nraise SystemExit(0)',
    "always equal": "class T:\n    def __eq__(s, o): return True\ndef add(a, b): return T()",
    "an int that is always equal": "class T(int):\n    __eq__ = lambda s, o: True\ndef add(a, b): return T(5)",
    "other assertion error": (
        "import builtins\nbuiltins.AssertionError = type('E', (BaseException,), {})\n"
        "class T(int):\n    __eq__ = lambda s, o: True\ndef add(a, b): return 5"
    ),
    "patched builtins": "import builtins\nbuiltins.abs = builtins.len = lambda x: 0\ndef add(a, b): return 7",
    "patched harness": (
        "import sys\nfor m in list(sys.modules.values()):\n"
        "    for n in ('send', 'receive', 'judge', 'pack', '_answer', '_failed'):\n"
        "        if hasattr(m, n): setattr(m, n, lambda *a, **k: {'value': True})\ndef add(a, b): return 7"
    ),
    "frames": (
        "import sys, os\ndef add(a, b):\n    f = sys._getframe()\n    while f:\n        f.f_globals['failure'] = None\n"
        "        f.f_globals.get('__builtins__', {})\n        f = f.f_back\n    return 7"
    ),
    "tracing past the asserts": "import sys\nsys.settrace(lambda *a: None)\ndef add(a, b): return 7",
    "killing everyone": (
        "import os, signal\ndef add(a, b):\n    for p in range(2, 200):\n        try: os.kill(p, 9)\n        except OSError: pass"
    ),
    "a fork that goes on": "import os\nos.fork()\ndef add(a, b): return 5",
    "an async answer": "async def add(a, b): return a + b",
    "a background process": "import os, time\nif os.fork() == 0:\n    time.sleep(60)\ndef add(a, b): return 5",
    "nothing": "",
    "a syntax error": "def add(a, b): return (",
    "deep nesting": "(" * 5000 + ")" * 5000,
}


@pytest.mark.parametrize("code", CHEATS.values(), ids=CHEATS.keys())
def test_cheats_do_not_pass(code: str) -> None:
    assert not judged(code).passed


def test_a_false_module_convinces_nobody() -> None:
    cheat = "class math:\n    isclose = lambda *a: True\ndef add(a, b): return 7"
    assert not judged(cheat, CLOSE).passed
    assert not judged("def add(a, b): return a + b", CLOSE).passed  # as in one namespace: the tests rely on its import
    assert judged("import math\ndef add(a, b): return a + b", CLOSE).passed


def test_the_solution_cannot_find_what_the_tests_expect() -> None:
    code = (
        "import gc, os\nseen = []\ndef add(a, b):\n"
        "    texts = [o for o in gc.get_objects() if isinstance(o, (str, dict, list, tuple))]\n"
        "    for path in ('/proc/self/environ', '/proc/self/cmdline', '/proc/1/cmdline'):\n"
        "        try: seen.append(open(path).read())\n"
        "        except OSError: pass\n"
        "    return 31337 if ''.join(['xyz', 'zy42']) in repr(texts)[:5_000_000] + repr(seen) else a + b"
    )
    tests = "secret = 'xyzzy42'\nassert add(2, 2) == 4, secret"
    assert judged(code, tests, Limits()).passed


def test_the_right_solution_passes_after_all_of_them() -> None:
    right = Suite(("def add(a, b):\n    return a + b",), TESTS)
    jobs = [*(Suite((code,), TESTS) for code in list(CHEATS.values())[:4]), right]
    assert [outcome.passed for outcome in run_many(jobs, SHORT)] == [False] * 4 + [True]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("def add(a, b): return a - b", "wrong"),
        ("def add(a, b): return a / 0", "failed"),
        ("def sub(a, b): return a - b", "failed"),
        ("def add(a, b):\n    while True: pass", "timeout"),
        ("import time\ndef add(a, b): time.sleep(99)", "timeout"),
        ("x = 'a' * (1 << 34)\ndef add(a, b): return a + b", "memory"),
        ("import os\nos._exit(0)", "crashed"),
        ("def add(a, b):\n    print('x' * 5_000_000)\n    return a + b", "passed"),
        ("def add(a, b):\n    import numpy\n    return numpy.int64(a) + numpy.int64(b)", "passed"),
    ],
)
def test_statuses(code: str, status: str) -> None:
    outcome = judged(code, limits=Limits(seconds=2.0, wall=5.0))
    assert outcome.status == status, outcome
    assert bool(outcome.message) == (status != "passed")


def test_a_failed_assertion_is_quoted() -> None:
    assert "assert add(-1, 1) == 0" in judged("def add(a, b): return a * b").message


ROUND_TRIPS = """
import math
from collections import OrderedDict, Counter
from fractions import Fraction
from decimal import Decimal
values = [None, True, 1, 10**5000, -0.0, float('inf'), 'ü\\ud800', b'x', (1, [2, (3,)]), {1: 'a', (1, 2): [3]},
          {1, 2}, frozenset({3}), 2j,
          range(3), Fraction(1, 3), Decimal('1.10'), int]
for value in values:
    assert same(value) == value, value
    assert type(same(value)) is type(value), value
assert math.isnan(same(float('nan')))
assert count('aab') == {'a': 2, 'b': 1}
assert list(gen(3)) == [0, 1, 2]
assert point(1, 2) == (1, 2)
numbers = [3, 1, 2]
assert sort_in_place(numbers) is None and numbers == [1, 2, 3]
try:
    bad()
    raise RuntimeError
except ValueError as exc:
    assert str(exc) == 'no'
root = Node(1)
root.left = Node(2)
assert root.left.value == 2 and depth(root) == 2
assert not (root == 1)
assert LIMIT == 7
"""

OF_ALL_KINDS = """
from collections import Counter, namedtuple
def same(x): return x
def count(s): return Counter(s)
def gen(n): yield from range(n)
point = namedtuple('point', 'x y')
def sort_in_place(x): x.sort()
def bad(): raise ValueError('no')
class Node:
    def __init__(self, value): self.value, self.left = value, None
def depth(n): return 0 if n is None else 1 + depth(n.left)
LIMIT = 7
"""


def test_values_pass_between_tests_and_solution() -> None:
    outcome = judged(OF_ALL_KINDS, ROUND_TRIPS, Limits())
    assert outcome.passed, outcome


def test_equal_runs_give_equal_verdicts() -> None:
    codes = {run(Program("print(list({'a', 'b', 'c', 'd', 'e', 'f'}), hash('x'))")).stdout for _ in range(3)}
    assert len(codes) == 1
    first = "def first(): return next(iter({'a', 'b', 'c', 'd', 'e', 'f'}))"
    assert len({run(Suite((first,), "assert first() == 'a'")).status for _ in range(4)}) == 1


def test_the_first_solution_that_compiles_is_used() -> None:
    assert run(Suite(("def add(a, b):\nreturn a", "def add(a, b): return a + b"), TESTS)).passed


def test_context_comes_from_the_dataset_and_the_named_function_from_the_solution() -> None:
    context = "def helper(x): return x + 1\ndef add(a, b): 'to be written'"
    code = "def helper(x): return 0\ndef add(a, b): return a + b"
    assert run(Suite((code,), "assert helper(1) == 2\nassert add(1, 1) == 2", ("add",), context)).passed


def test_a_solution_may_be_named_as_a_builtin_only_if_tests_ask_for_it() -> None:
    assert judged("def sum(a, b): return a + b + 1", "assert sum(1, 1) == 3").passed
    assert not judged("def sorted(x): return [1]\ndef f(x): return [9]", "assert sorted(f(1)) == sorted([1])").passed
