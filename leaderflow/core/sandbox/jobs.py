"""What can be executed, within which limits, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["passed", "wrong", "failed", "timeout", "memory", "crashed"]
"""``wrong``: an assertion failed; ``failed``: another error; ``crashed``: the process ended before the tests did."""

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use.

    `seconds` counts processor time (whole seconds, rounded up), so that a loaded machine changes no score; `wall` ends what sleeps.
    `memory` is the address space of a process, `processes` counts processes and threads, `output` is what is kept of a stream; the
    rest is read and thrown away. `memory`, `file_size` and `output` are bytes.
    """

    seconds: float = 10.0
    wall: float = 30.0
    memory: int = 1024 * MIB
    processes: int = 32
    file_size: int = 16 * MIB
    open_files: int = 64
    output: int = 1 * MIB


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program that reads stdin and writes stdout. It passes if it ends with status 0.

    With `token`, a program must also have written that text: its exit status alone then proves nothing.
    """

    source: str
    language: str = "python"
    stdin: str = ""
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Python tests of a solution. They run in a process of their own and call the solution in another one.

    Attributes:
        solutions: the same solution put together in several ways; the first that compiles is used.
        tests: statements; an exception fails them.
        names: what the tests call of the solution, even where `context` or Python defines the name as well.
        context: definitions the tests may use, such as helpers of the prompt, run beside the tests.
    """

    solutions: tuple[str, ...]
    tests: str
    names: tuple[str, ...] = ()
    context: str = ""


Job = Program | Suite


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: `stdout` and `stderr` cut to the limit, `seconds` of wall-clock time, `message` for people."""

    status: Verdict
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    message: str = ""

    @property
    def passed(self) -> bool:
        """Whether it did all it had to."""
        return self.status == "passed"
