"""164 HumanEval solutions in the sandbox, beside the same programs in bare subprocesses that nothing protects from.

Reads HumanEval below LEADERFLOW_DATA where it is there, else makes functions of the same form. Prints wall-clock seconds of both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from leaderflow.core.sandbox import Suite, require, run, run_many

SOLUTIONS = 164


def rows() -> list[dict[str, Any]]:
    file = Path(os.environ.get("LEADERFLOW_DATA", "../shared/data")) / "HumanEval" / "HumanEval.jsonl"
    if file.is_file():
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        {
            "prompt": f'from typing import List\n\n\ndef plus_{i}(xs: List[int]) -> List[int]:\n    """Add {i} to each."""\n',
            "canonical_solution": f"    return [x + {i} for x in xs]\n",
            "entry_point": f"plus_{i}",
            "test": f"def check(candidate):\n    for n in range(10):\n        assert candidate([n]) == [n + {i}]\n",
        }
        for i in range(SOLUTIONS)
    ]


def suite(row: dict[str, Any]) -> Suite:
    name = row["entry_point"]
    return Suite((row["prompt"] + row["canonical_solution"],), f"{row['test']}\ncheck({name})", (name,), row["prompt"])


def bare(job: Suite) -> bool:
    command = [sys.executable, "-I", "-S", "-c", f"{job.solutions[0]}\n{job.tests}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> None:
    """Measure and print."""
    jobs = [suite(row) for row in rows()]
    box, workers = require(["python"]), len(os.sched_getaffinity(0))
    run(jobs[0])
    began = time.monotonic()
    passed = sum(outcome.passed for outcome in run_many(jobs))
    sandboxed = time.monotonic() - began
    began = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        right = sum(pool.map(bare, jobs))
    unprotected = time.monotonic() - began
    each = 1000 * sandboxed / len(jobs)
    print(f"{box.name}: {passed} of {len(jobs)} passed in {sandboxed:.1f} s, {each:.0f} ms each, {workers} workers")
    print(f"bare subprocesses: {right} of {len(jobs)} passed in {unprotected:.1f} s; ratio {sandboxed / unprotected:.1f}")


if __name__ == "__main__":
    main()
