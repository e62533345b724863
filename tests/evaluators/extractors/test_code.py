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

TAKEN_BACK = [
    "Wait, that's subtraction, so this code is wrong. I don't have time to correct it.",
    "抱歉，上面的代码是错误的，请不要使用，我暂时写不出正确的版本。",
    "Entschuldigung, dieser Code ist falsch, bitte nicht verwenden. Eine richtige Lösung habe ich nicht.",
    "Sorry, that was the wrong function. I can't produce the right one without the spec.",
    "Update: do not use the code above; it has a race condition. I have no working solution yet.",
    "更正：以上代码作废，条件理解错了。",
    "这段代码其实是错的，我收回。",
    "Ah no, this is broken.",
]
REMARKS = [
    "The function raises a ValueError if the value is invalid.",
    "如果输入无效，代码会抛出错误；这个函数不会漏掉任何情况。",
    "However, this doesn't scale to very large inputs.",
    "But it does not check types, so be careful.",
    "The old implementation was wrong since it used `-`.",
    "The problem with your code: the result was off by one.",
    "Hinweis: Das funktioniert nicht mit Strings.",
    "这样写的好处是避免了错误。这里我们不能用递归，因为会超时。",
    "I did not find any mistake in the rest of your program.",
    "You can ignore the warning that it prints.",
    "If this is not what you need, please ignore it and tell me more.",
]
LAYOUTS = [
    ("    return a + b\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(", "    return a + b"),
    (
        "from math import sqrt\ndef f(x):\n    return sqrt(x)\n\nThe function above computes the root. from here on nothing more.",
        "from math import sqrt\ndef f(x):\n    return sqrt(x)",
    ),
    ("> ```python\n> def add(a, b):\n>     return a + b\n> ```", "def add(a, b):\n    return a + b"),
    ("1. ```python\n   def add(a, b):\n       return a + b\n   ```", "def add(a, b):\n    return a + b"),
    ("<code>def add(a, b):\n    return a + b</code>", "def add(a, b):\n    return a + b"),
    (
        'Here is the code:\n<pre><code class="language-python">\ndef add(a, b):\n    return a + b\n</code></pre>',
        "def add(a, b):\n    return a + b",
    ),
    ("Use this function:\n\n    def add(a, b):\n        return a + b\n\nIt is simple.", "def add(a, b):\n    return a + b"),
    (
        "1. Write it:\n\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n\n2. Done.",
        "def add(a, b):\n    return a + b",
    ),
    ("def add(a, b):\n    return a + b\n\nExplanation: trivial", "def add(a, b):\n    return a + b"),
    (
        "import sys\n\nn = int(sys.stdin.readline())\nprint(n * 2)\n\nSample Output\n4",
        "import sys\n\nn = int(sys.stdin.readline())\nprint(n * 2)",
    ),
    ("n = int(input())\nprint(n * 2)\n\nInput: 2\nOutput: 4", "n = int(input())\nprint(n * 2)"),
    ("Here's my solution.\n\nn = int(input())\nprint(n * 2)\n", "n = int(input())\nprint(n * 2)"),
    (
        '    s = 0\n    for x in xs:\n        s += x\n    return s\n\n\ndef other(xs):\n    """Cut',
        "    s = 0\n    for x in xs:\n        s += x\n    return s",
    ),
    (
        "原代码：\n\n```python\ndef add(a, b):\n    return a - b\n```\n\n修改后：\n\n```python\ndef add(a, b):\n    return a "
        "+ b\n```",
        "def add(a, b):\n    return a + b",
    ),
    ("    return a + b\n\nThe function returns the sum of a and b.", "    return a + b"),
    (
        '```python\ndef add(a, b):\n    """Add.\n\n    ```\n    add(1, 2)\n    ```\n    """\n    return a + b\n```',
        'def add(a, b):\n    """Add.\n\n    ```\n    add(1, 2)\n    ```\n    """\n    return a + b',
    ),
    ("return a + b", "return a + b"),
]
PARTS = [
    "Here's how you call it:\n```python\nresult = add(1, 2)\nprint(result)\n```\nThe implementation is closed source.",
    'The signature must be\n\n```python\ndef add(a: int, b: int) -> int:\n    """Return the sum."""\n```\n\nIs that right?',
    "Fill in:\n\n```python\ndef add(a, b):\n    # your code here\n```",
    "Change the line\n\n```python\nreturn a - b\n```\n\nto use a plus.",
    "The important bit is the condition:\n\n```python\nif a < b:\n```\n\nwhich should be `<=`.",
    "I'd write:\n```python\nimport numpy as np\n```\nbut more is needed.",
    "You can choose:\n\nA:\n```python\ndef add(a, b):\n    return a + b\n```\nB:\n```python\nadd = lambda a, b: a + "
    "b\n```\nBoth are fine; it's up to you.",
    "有两种写法，任选其一：\n\n```python\ndef add(a, b):\n    return a + b\n```\n\n```python\nadd = lambda a, b: a + b\n```",
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


@pytest.mark.parametrize("after", TAKEN_BACK)
def test_a_program_that_is_taken_back_is_none(after):
    assert code_block(f"```python\n{ADD}\n```\n\n{after}").value is None


@pytest.mark.parametrize("after", REMARKS)
def test_remarks_after_a_program_leave_it(after):
    assert code_block(f"```python\n{ADD}\n```\n\n{after}").value == ADD


@pytest.mark.parametrize(("reply", "program"), LAYOUTS)
def test_a_program_is_found_in_other_layouts(reply, program):
    assert code_block(reply).value == program


@pytest.mark.parametrize("reply", PARTS)
def test_parts_and_equal_versions_are_no_program(reply):
    assert code_block(reply).value is None
