r"""5,000 math-verify answers in the worker processes, beside the same answers with one processor.

Half are whole numbers in a box (settled without algebra), half need it; `--algebra` leaves the whole numbers out. Prints wall-clock
seconds and processor seconds of the workers for each, and the ratio of the wall-clock times, which is 2 for two processors that
have nothing else to do.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

from evaluators.mathverify import MATHVerifyEvaluator

ANSWERS = 5_000
FORMS = (
    ("\\frac{{{0}}}{{7}}", "\\dfrac{{{0}}}{{7}}"),
    ("{0}\\sqrt{{3}}", "\\sqrt{{3}}\\cdot {0}"),
    ("x^2+{0}x", "x(x+{0})"),
    ("({0}, {0}.5)", "\\left({0},{0}.5\\right)"),
)


def cases(algebra: bool) -> tuple[list[str], list[str]]:
    """Return answers and references; one in four is wrong."""
    answers, references = [], []
    for i in range(ANSWERS):
        right, written = ("{0}", "{0}") if i % 2 and not algebra else FORMS[i // 2 % len(FORMS)]
        answers.append(f"After some steps the answer is $\\boxed{{{written.format(i)}}}$.")
        references.append(right.format(i + (i % 4 == 0)))
    return answers, references


def spent(pid: int) -> float:
    """Return the processor seconds of a living process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(processors: set[int], algebra: bool) -> list[float]:
    """Score all answers on some processors; return wall-clock seconds, accuracy, and each worker's processor seconds."""
    os.sched_setaffinity(0, processors)
    evaluator, (answers, references) = MATHVerifyEvaluator(), cases(algebra)
    evaluator.measure(["$\\boxed{\\frac{1}{2}}$", "$\\boxed{\\frac{1}{3}}$"], ["0.5", "0.5"])  # the workers start
    began = time.monotonic()
    accuracy = evaluator.measure(answers, references)["accuracy"]
    wall = time.monotonic() - began
    return [wall, accuracy, *(spent(worker.pid or 0) for worker in multiprocessing.active_children())]


def apart(processors: set[int], algebra: bool) -> tuple[float, str]:
    """Measure in a process of its own; return the wall-clock seconds and a line about them."""
    on = ",".join(map(str, sorted(processors)))
    command = [sys.executable, "-m", "benchmarks.math_verify", "--on", on, *(["--algebra"] if algebra else [])]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    wall, accuracy, *workers = map(float, done.stdout.split())
    each = " + ".join(f"{seconds:.1f}" for seconds in workers)
    return wall, f"{len(workers)} workers: {ANSWERS} answers in {wall:.1f} s, {each} s of processors, accuracy {accuracy:.2f}"


def main() -> None:
    """Measure and print."""
    algebra = "--algebra" in sys.argv
    if "--on" in sys.argv:
        print(*measure({int(number) for number in sys.argv[sys.argv.index("--on") + 1].split(",")}, algebra))
        return
    there = os.sched_getaffinity(0)
    wall, line = apart(there, algebra)
    print(line)
    alone, line = apart({min(there)}, algebra)
    print(f"{line}; ratio {alone / wall:.2f}")


if __name__ == "__main__":
    main()
