"""Runs jobs in boxes, several at a time."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from time import monotonic
from typing import IO

from leaderflow.core.sandbox.access import require
from leaderflow.core.sandbox.boxes import ISOLATED, Box
from leaderflow.core.sandbox.jobs import Job, Limits, Outcome, Program, Suite, Verdict
from leaderflow.core.sandbox.languages import toolchain
from leaderflow.core.sandbox.process import Capture, converse, envelope, started

_MESSAGES = {
    "timeout": "it ran longer than its limit",
    "memory": "it asked for more memory than its limit",
    "crashed": "its process ended before the tests did",
}
_CPU_SIGNALS = {-24, 152}
_KILLED = {-9, 137}
_GRACE = 5.0
"""Seconds until a process of which the tests saw the end is seen to have ended here."""


def run(job: Job, limits: Limits | None = None) -> Outcome:
    """Run one job.

    Raises:
        UsageError: there is no sandbox, or no compiler for the language.
    """
    return run_many([job], limits)[0]


def run_many(jobs: Sequence[Job], limits: Limits | None = None, *, workers: int | None = None) -> list[Outcome]:
    """Run jobs, by default as many at a time as there are processors; the outcomes come in the order of the jobs.

    Raises:
        UsageError: there is no sandbox, or no compiler for a language.
    """
    if not jobs:
        return []
    box = require({job.language for job in jobs if isinstance(job, Program)})
    bounds = limits or Limits()
    places = workers or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(min(places, len(jobs)), thread_name_prefix="sandbox") as pool:
        return list(pool.map(lambda job: run_in(box, job, bounds), jobs))


def run_in(box: Box, job: Job, limits: Limits) -> Outcome:
    """Run one job in a given box."""
    began = monotonic()
    found = _program(box, job, limits) if isinstance(job, Program) else _suite(box, job, limits)
    message = found.message or _MESSAGES.get(found.status, "")
    return replace(found, seconds=monotonic() - began, message=message)


def _program(box: Box, job: Program, limits: Limits) -> Outcome:
    tools, python = toolchain(job.language), job.language == "python"
    command = [box.python, *ISOLATED, *tools.run] if python else list(tools.run)
    letter = {"file": tools.file, "source": job.source, "compile": list(tools.compile), "run": command}
    data = envelope(box, limits, letter, packages=python, reserves=tools.reserves) + job.stdin.encode("utf-8", "replace")
    out, err, given = Capture(limits.output), Capture(limits.output), os.pipe()
    deadline = monotonic() + limits.wall
    with started(box, "launch.py", limits, stdin=given[0], stdout=subprocess.PIPE) as process:
        os.close(given[0])
        code = None
        if converse([(given[1], data)], {_number(process.stdout): out, _number(process.stderr): err}, process, deadline):
            code = _exit_code(process, deadline)
    status = _ended(code, err.text())
    if status == "passed" and job.token is not None and job.token.encode() not in out.head + out.tail:
        status = "crashed"
    message = _said(err.text()) or (f"it ended with status {code}" if status == "failed" else "")
    return Outcome(status, out.text(), err.text(), message="" if status == "passed" else message)


def _number(stream: IO[bytes] | None) -> int:
    if stream is None:
        raise ValueError("the stream is no pipe")
    return stream.fileno()


def _exit_code(process: subprocess.Popen[bytes], deadline: float) -> int | None:
    """Wait for a process that said all it had to say; None where it does not end in time."""
    try:
        return process.wait(max(0.0, deadline - monotonic()))
    except subprocess.TimeoutExpired:
        return None


def _ended(code: int | None, stderr: str) -> Verdict:
    """What an exit status means."""
    if code is None or code in _CPU_SIGNALS or code in _KILLED:
        return "timeout"
    if code and ("MemoryError" in stderr or "bad_alloc" in stderr or "heap out of memory" in stderr):
        return "memory"
    return "failed" if code else "passed"


def _said(text: str) -> str:
    """The last line that names an error, else the last one."""
    lines = text.strip().splitlines() or [""]
    return next((line for line in reversed(lines) if re.search(r"error|exception", line, re.IGNORECASE)), lines[-1]).strip()[:300]


def _suite(box: Box, job: Suite, limits: Limits) -> Outcome:
    """Two boxes, wired to each other: the tests ask, the solution answers, and the verdict comes from the tests alone."""
    code = envelope(box, limits, {"solutions": job.solutions}, packages=True)
    tests = {"tests": job.tests, "names": job.names, "context": job.context}
    judge = envelope(box, replace(limits, seconds=limits.seconds + limits.wall), tests, packages=False)
    said, err = Capture(limits.output), Capture(limits.output)
    with ExitStack() as stack:
        to_tests, to_solution = os.pipe(), os.pipe()
        tester = stack.enter_context(started(box, "judge.py", limits, stdin=to_tests[0], stdout=to_solution[1]))
        solver = stack.enter_context(started(box, "solution.py", limits, stdin=to_solution[0], stdout=to_tests[1]))
        for descriptor in (to_tests[0], to_solution[0]):
            os.close(descriptor)
        reads = {_number(tester.stderr): said, _number(solver.stderr): err}
        writes = [(to_tests[1], judge), (to_solution[1], code)]
        in_time = converse(writes, reads, tester, monotonic() + limits.wall)
        ended = _exit_code(solver, monotonic() + (_GRACE if b"crashed" in said.head else 0.0))
    return _verdict(said.text(), in_time, ended, err.text())


def _verdict(said: str, in_time: bool, ended: int | None, stderr: str) -> Outcome:
    if not in_time or ended in _CPU_SIGNALS:
        return Outcome("timeout", stderr=stderr)
    try:
        found = json.loads(said)
    except ValueError:
        return Outcome("crashed", stderr=stderr, message=f"the tests did not end: {_said(said)}")
    status: Verdict = found["status"]
    if status == "crashed" and ended in _KILLED:
        status = "timeout"
    return Outcome(status, stderr=stderr, message=found["message"])
