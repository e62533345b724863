"""Executes programs that a model wrote, where they can do no harm and cannot lie about their result.

    from leaderflow.core.sandbox import Suite, run

    run(Suite(("def add(a, b): return a + b",), "assert add(1, 2) == 3")).passed

`docs/sandbox.md` says what it protects against and what not.
"""

from leaderflow.core.sandbox.access import require, unsafe_code
from leaderflow.core.sandbox.jobs import Job, Limits, Outcome, Program, Suite
from leaderflow.core.sandbox.runner import run, run_many

__all__ = ["Job", "Limits", "Outcome", "Program", "Suite", "require", "run", "run_many", "unsafe_code"]
