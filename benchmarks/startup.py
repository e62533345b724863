"""CPU seconds that the light commands take, best of five: nothing heavy may be imported before it is needed."""

from __future__ import annotations

import resource
import subprocess
import sys

COMMANDS = {"--help": ["--help"], "list datasets": ["list", "datasets"], "run --help": ["run", "--help"]}


def cpu_seconds(arguments: list[str]) -> float:
    """Run the command once and return its user and system time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "leaderflow", *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    for name, arguments in COMMANDS.items():
        print(f"leaderflow {name}: {min(cpu_seconds(arguments) for _ in range(5)):.2f} s of CPU (best of 5)")


if __name__ == "__main__":
    main()
