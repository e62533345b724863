"""Functions in other languages, judged by tests that are appended to the program: HumanEval-X and MultiPL-E forms."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from evaluators.code.base import CodeEvaluator, program_of
from evaluators.demands import text
from leaderflow.core.sandbox import Job, Limits, Program
from leaderflow.core.sandbox.languages import toolchain
from leaderflow.core.types import Row

_NAMES = {
    "javascript": r"(?:function\s+(\w+)\s*\(|(?:const|let|var)\s+(\w+)\s*=)",
    "cpp": r"(\w+)\s*\([^()]*\)\s*\{",
    "bash": r"(?:function\s+)?(\w+)\s*(?:\(\s*\))?\s*\{",
    "python": r"def\s+(\w+)",
}
_INCLUDES = re.compile(r"#|using\b|import\b|from\b|(?:const|let|var)\b.*\brequire\(")
_STRICT = "console.assert = (ok, ...rest) => { if (!ok) throw new Error('assertion failed ' + rest.join(' ')) };\n"


class LanguageTestsEvaluator(CodeEvaluator):
    """HumanEval-X (Zheng et al. 2023) and MultiPL-E (Cassano et al. 2022): prompt, answer and column `test` make one program.

    It passes if it ends without error after its last test; a program that leaves earlier fails. Tests and answer share a process
    here: a program written to deceive can pass, unlike with the Python evaluators.

    Args:
        language: ``javascript``, ``cpp``, ``bash`` or ``python``.
        seconds: processor time of one program, its compiler included.
    """

    needs = frozenset({"prompt", "test"})
    demands = (text("prompt"), text("test"))

    def __init__(self, language: str, seconds: float = 15.0) -> None:
        toolchain(language)
        self.language, self.needs_sandbox = language, frozenset({language})
        self.limits = Limits(seconds=seconds, wall=4 * seconds)

    def job(self, prediction: Any, reference: Any, row: Row) -> Job | None:
        """Return the program with its tests."""
        code = program_of(prediction)
        if not code.strip():
            return None
        token = hashlib.sha256(f"{row['prompt']}\0{code}".encode("utf-8", "replace")).hexdigest()
        source = with_token(self.language, *joined(self.language, row["prompt"], code, row["test"]), token)
        return Program(source, self.language, token=token)


def joined(language: str, prompt: str, code: str, test: str) -> tuple[str, str]:
    """Return (program, tests): the prompt completed by a body, or replaced by a whole function.

    Of the prompt stay the lines before its function; only what it includes, where the code brings its helpers as well. Some tests
    begin with the brace that closes the body: after code whose braces are closed it goes.
    """
    begins, own = _defined(language, prompt), _defined(language, code)
    name = next(reversed(begins), None)
    if name not in own:
        closed = code.count("}") > code.count("{")
        return prompt + code, _unclosed(test) if closed else test
    before = prompt[: begins[name]]
    if set(own) & (set(begins) - {name}):
        before = "".join(line for line in before.splitlines(keepends=True) if _INCLUDES.match(line))
    return before + code + "\n", _unclosed(test)


def _defined(language: str, text: str) -> dict[str | None, int]:
    """What a program defines at its outermost level, which is not indented: name → begin of its line."""
    found: dict[str | None, int] = {}
    for match in re.finditer(_NAMES[language], text):
        line = text.rfind("\n", 0, match.start()) + 1
        if not text[line : line + 1].isspace():
            name = next(filter(None, match.groups()))
            found.pop(name, None)
            found[name] = line
    return found


def _unclosed(test: str) -> str:
    return re.sub(r"\A\s*\}", "", test)


def with_token(language: str, program: str, test: str, token: str) -> str:
    """Return the program that writes the token after its last test."""
    if language == "cpp":
        end = re.search(r"(?:return\s+0\s*;\s*)?\}\s*\Z", test)
        place = end.start() if end else len(test)
        return f'#include <unistd.h>\n{program}\n{test[:place]}\n(void)!::write(1, "{token}", {len(token)});\n{test[place:]}\n'
    if language == "javascript":
        return f"{program}\n{_STRICT}{test}\nrequire('fs').writeSync(1, '{token}');\n"
    if language == "bash":
        return f"{program}\n{test}\nprintf %s {token}\n"
    return f"{program}\n{test}\nprint('{token}')\n"
