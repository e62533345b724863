"""Programs of other languages than Python: whole or cut off, fenced or not, and examples of their use."""

from __future__ import annotations

import pytest

from evaluators.extractors.code import code_block

WHOLE = [
    ("java", "public class A {\n    int x() {\n        return 1;\n    }\n}"),
    ("rust", "fn f<'a>(s: &'a str) -> &'a str {\n    s\n}"),
    ("javascript", "const f = (x) => `a${x}{`;"),
    ("go", "func F() string {\n\treturn `{`\n}"),
    ("ruby", "def f(x)\n  x + 1\nend"),
    ("lua", "local function f(x)\n  if x then\n    return 1\n  end\nend"),
    ("cpp", "#include <vector>\nint f() { return '{'; }"),
    ("sql", "SELECT a FROM b;"),
    ("haskell", "f :: Int -> Int\nf x = x + 1"),
    ("kotlin", "fun f(x: Int) = x * 2"),
    ("", "#include <stdio.h>\nint main(void) {\n    return 0;\n}"),
    ("php", "<?php\nfunction f($x) { # it's\n  return 'a';\n}"),
    ("csharp", "public static int F(int x) => x + 1;"),
    ("c", "int f(int a) {\n    if (a == '\\'') return 1;\n    return 0;\n}"),
    ("perl", 'sub f {\n    my $x = shift;\n    return $x =~ /[{"]/;\n}'),
]
CUT_OFF = [
    ("java", "public class A {\n    int x() {\n        return 1;"),
    ("rust", 'fn main() {\n    println!("hi'),
    ("javascript", "const f = (x) => {\n  return `a${x"),
    ("go", "func F() string {\n\t/* comm"),
    ("ruby", "def f(x)\n  x.map do |y|\n    y + 1\n  end"),
    ("lua", "local function f(x)\n  if x then\n    return 1\n  end\n"),
    ("cpp", "#include <vector>\n\nint f("),
    ("sql", "SELECT a\nFROM b\nWHERE"),
    ("sql", "SELECT a FROM b WHERE c = 'x"),
    ("haskell", "f :: Int -> Int\nf x = case x of"),
    ("kotlin", 'fun f(x: Int): String {\n    return """a'),
    ("", "#include <stdio.h>\nint main(void) {\n    return"),
    ("swift", "func f(_ x: Int) -> Int {\n    x + 1"),
    ("typescript", "type A = { a: string"),
]
USES = [
    ("go", "func Add(a, b int) int {\n\treturn a + b\n}", "fmt.Println(Add(1, 2))"),
    ("rust", "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}", 'fn main() {\n    println!("{}", add(1, 2));\n}'),
    ("cpp", "int add(int a, int b) {\n    return a + b;\n}", "std::cout << add(1, 2) << '\\n';"),
    ("r", "add <- function(a, b) a + b", "add(1, 2)"),
    ("ruby", "def add(a, b) = a + b", "puts add(1, 2)"),
    ("haskell", "add :: Int -> Int -> Int\nadd a b = a + b", "main = print (add 1 2)"),
    ("java", "static int add(int a, int b) {\n    return a + b;\n}", "int s = add(1, 2);\nSystem.out.println(s); // 3"),
    ("swift", "func add(_ a: Int, _ b: Int) -> Int { a + b }", "let r = add(1, 2)\nprint(r)"),
    ("sql", "CREATE FUNCTION add(a int, b int) RETURNS int AS $$ SELECT a + b $$ LANGUAGE sql;", "SELECT add(1, 2);"),
    ("lua", "local function add(a, b)\n  return a + b\nend", "print(add(1, 2))"),
    ("php", "function add($a, $b) {\n    return $a + $b;\n}", "echo add(1, 2);"),
    ("typescript", "const add = (a: number, b: number): number => a + b;", "console.log(add(1, 2)); // 3"),
    ("elixir", "def add(a, b), do: a + b", "IO.inspect(add(1, 2))"),
    ("scala", "def add(a: Int, b: Int): Int = a + b", "println(add(1, 2))"),
]


@pytest.mark.parametrize(("language", "program"), WHOLE)
def test_an_open_fence_may_hold_a_whole_program(language, program):
    assert code_block(f"Here:\n\n```{language}\n{program}").value == program


@pytest.mark.parametrize(("language", "program"), WHOLE)
def test_a_program_without_a_fence_is_found(language, program):
    assert code_block(program).value == program
    assert code_block(f"{program}\n\nThis works for every input.").value == program


@pytest.mark.parametrize(("language", "part"), CUT_OFF)
def test_a_program_that_is_cut_off_is_none(language, part):
    assert code_block(f"Here:\n\n```{language}\n{part}").value is None


@pytest.mark.parametrize(
    "lead", ["Then:", "Example:", "Ejemplo:", "Beispiel:", "Exemple :", "Пример:", "示例：", "Call it like this:"]
)
@pytest.mark.parametrize(("language", "program", "use"), USES)
def test_an_example_of_its_use_is_not_the_program(language, program, use, lead):
    assert code_block(f"Here:\n\n```{language}\n{program}\n```\n\n{lead}\n\n```{language}\n{use}\n```").value == program


@pytest.mark.parametrize(
    "reply",
    [
        'It prints the following:\n\n```\nTraceback (most recent call last):\n  File "a.py", line 1\nZeroError: x(1)\n```',
        "The moves are:\n\n```python\nmoves = [(0, 1), (1, 0)]\n```\n\nPutting this together, we arrive at the complete",
        "The moves are:\n\n```python\nmoves = [(0, 1), (1, 0)]\n```\n\nSo:\n\n```python\ndef walk(grid):\n    for",
    ],
)
def test_output_and_what_explains_a_missing_program_are_none(reply):
    assert code_block(reply).value is None


@pytest.mark.timeout(30)
def test_a_line_that_loops_is_looked_at_in_time_that_grows_with_its_length():
    query = "SELECT a FROM b " * 10_000
    assert code_block(query).value == query.rstrip()
