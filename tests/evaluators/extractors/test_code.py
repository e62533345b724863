"""The program in a reply, fenced or not."""

from __future__ import annotations

import pytest

from evaluators.extractors.code import code_block

ADD = "def add(a, b):\n    return a + b"

CASES = [
    (f"```python\n{ADD}\n```", ADD),
    (f"Here it is:\n\n```py\n{ADD}\n```\nIt adds.", ADD),
    (f"```\n{ADD}\n```", ADD),
    (f"~~~python\n{ADD}\n~~~", ADD),
    (f"<think>\ndef add(a, b):\n    return a\nor\n```python\ndef add(a, b): return b\n```\n</think>\n```python\n{ADD}\n```", ADD),
    (f"```python\ndef add(a, b): pass\n```\nBetter:\n```python\n{ADD}\n```", ADD),
    (f"```python\n{ADD}\n```\nUse it:\n```python\nprint(add(1, 2))\n```", ADD),
    (f"```bash\npip install numpy\n```\n```python\n{ADD}\n```\nOutput:\n```\n3\n```", ADD),
    (f"```python\n{ADD}", ADD),
    (ADD, ADD),
    (f"Sure, the function is\n\n{ADD}\n\nIt returns the sum.", ADD),
    ("    return a + b\n", "    return a + b"),
    ("    total = a + b\n    return total", "    total = a + b\n    return total"),
    ("I cannot write this program.", None),
    ("42", None),
    ("", None),
    (f"<think>```python\n{ADD}\n```", None),
    ("```text\n3\n```", None),
    ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''"),
]


@pytest.mark.parametrize(("reply", "program"), CASES)
def test_the_program_is_found(reply, program):
    found = code_block(reply)
    assert found.value == program
    assert program is None or reply[found.start : found.end] == program


def test_the_first_of_equal_blocks_on_request():
    reply = f"```python\n{ADD}\n```\n```python\ndef sub(a, b): ...\n```"
    assert code_block(reply, which="first").value == ADD
    assert code_block(reply).value == "def sub(a, b): ..."


def test_another_language():
    reply = "```python\nprint(1)\n```\n```cpp\nint main() {}\n```"
    assert code_block(reply, language="cpp").value == "int main() {}"
    assert code_block("def f(): ...", language="cpp").value is None


@pytest.mark.parametrize(
    "reply",
    [
        "It must pass:\n\n```python\nassert add(1, 2) == 3\n```",
        "```python\nclass TestAdd(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n```",
        "```python\ndef add(a, b):\n    ...\n```\nFill in the body.",
        "```python\ndef add(a, b):\n    raise NotImplementedError\n```",
        "The signature is\n```python\ndef add(a: int, b: int) -> int:\n```",
    ],
)
def test_tests_and_stubs_are_no_programs(reply):
    assert code_block(reply).value is None
