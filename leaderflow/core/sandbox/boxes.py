"""Where programs run: bubblewrap, else Docker, else nowhere, unless the user allows to run them bare."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

from leaderflow.core.sandbox.jobs import Limits

INSIDE = Path(__file__).parent / "inside"
"""The scripts that run in a box. They lie at the same path inside."""

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""All that a program sees of an environment. With one hash seed, equal runs go through a set in one order."""

ISOLATED = ("-s", "-S")
"""Python without user packages and start-up files; the script's own folder alone can be imported."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache")
IMAGE = os.environ.get("LEADERFLOW_SANDBOX_IMAGE", "python:3.11-slim")
"""What Docker runs."""

_PROBE = 20.0
_USERS = range(1_500_000_000, 1_600_000_000)
"""Users that own nothing anywhere."""


class Box(Protocol):
    """A way to run a script of `INSIDE` apart from everything else; a job goes in through stdin, results come out as text."""

    name: str
    python: str
    packages: Sequence[str]
    """Folders of third-party packages that Python solutions may import."""
    environment: dict[str, str]
    """The environment of the command itself."""

    def command(self, script: str, limits: Limits) -> list[str]:
        """Return the command that runs the script in the box."""
        ...

    def uid(self) -> int | None:
        """Return the user the script must become, None where it already has no rights."""
        ...

    def has(self, program: str) -> bool:
        """Say whether a compiler or interpreter is in the box."""
        ...

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End the box and everything in it."""
        ...


class _Local:
    """What boxes on this machine share: its Python, its packages, its compilers, and how they end."""

    python = os.path.realpath(sys.executable)
    packages: Sequence[str] = tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))
    environment = ENVIRONMENT

    def uid(self) -> int | None:
        return None

    def has(self, program: str) -> bool:
        return shutil.which(program, path=ENVIRONMENT["PATH"]) is not None

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the process group: the first process of a namespace takes all others with it."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Bubblewrap(_Local):
    """Namespaces of its own (pid, net, ipc, uts, mount; user, where we are not root), a read-only system, private /tmp."""

    name = "bubblewrap"

    def command(self, script: str, limits: Limits) -> list[str]:
        """Return the bwrap command."""
        return ["bwrap", *self._namespaces(), *self._files(limits), "--", self.python, *ISOLATED, str(INSIDE / script)]

    def uid(self) -> int | None:
        """Where we are root, a user of this run's own: root is exempt from the limit of processes, also in a user namespace."""
        return secrets.choice(_USERS) if _is_root() else None

    def _namespaces(self) -> list[str]:
        own = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
        if _is_root():
            own += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            own += ["--unshare-user"]
        variables = [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
        return [*own, "--die-with-parent", "--new-session", "--clearenv", *variables]

    def _files(self, limits: Limits) -> list[str]:
        size = str(limits.file_size * 4)
        made = ["--proc", "/proc", "--dev", "/dev", "--size", size, "--perms", "1777", "--tmpfs", "/dev/shm"]
        made += ["--remount-ro", "/dev", "--size", size, "--perms", "1777", "--tmpfs", "/tmp", "--chdir", "/tmp"]
        shown = dict.fromkeys([*_SYSTEM, sys.base_prefix, *self.packages, str(INSIDE)])
        above = dict.fromkeys(str(parent) for path in shown for parent in reversed(Path(path).parents[:-1]))
        for parent in above:  # made by bwrap itself they could be entered by root alone
            made += [] if parent in ("/tmp", *_SYSTEM) else ["--perms", "0755", "--dir", parent]
        for path in shown:
            made += ["--ro-bind-try", path, path]
        return [*made, "--remount-ro", "/"]


class Docker:
    """A container without network, with a read-only system, for machines where a Docker daemon runs and bubblewrap does not."""

    name = "docker"
    python = "python3"
    packages: Sequence[str] = ()

    def __init__(self, image: str = IMAGE) -> None:
        self.environment = dict(os.environ)
        self.image = image

    def command(self, script: str, limits: Limits) -> list[str]:
        """Return the docker command."""
        variables = [part for name, value in ENVIRONMENT.items() for part in ("--env", f"{name}={value}")]
        closed = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        bounds = ["--memory", str(limits.memory), "--pids-limit", str(limits.processes), "--user", "65534:65534"]
        files = [
            "--tmpfs",
            f"/tmp:size={limits.file_size * 4},mode=1777,exec",
            "--volume",
            f"{INSIDE}:{INSIDE}:ro",
            "--workdir",
            "/tmp",
        ]
        return [
            *("docker", "run", "--rm", "--interactive", "--name", f"leaderflow-{secrets.token_hex(8)}"),
            *(*variables, *closed, *bounds, *files, self.image),
            *(self.python, *ISOLATED, str(INSIDE / script)),
        ]

    def works(self) -> bool:
        """Say whether a daemon answers and has the image with a Python."""
        return (
            shutil.which("docker") is not None and _succeeds(["docker", "image", "inspect", self.image]) and self.has(self.python)
        )

    def uid(self) -> int | None:
        """Return None: Docker has chosen the user already."""
        return None

    def has(self, program: str) -> bool:
        """Ask the image."""
        return _succeeds(["docker", "run", "--rm", "--network", "none", self.image, "which", program])

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the container: it would outlive its client."""
        command = list(map(str, process.args)) if isinstance(process.args, Sequence) else []
        _succeeds(["docker", "kill", command[command.index("--name") + 1]])
        process.kill()
        process.wait()


class Bare(_Local):
    """No box at all: a process group with limits. Model code has all rights of the user; only for what the user trusts."""

    name = "none"

    def command(self, script: str, limits: Limits) -> list[str]:
        """Return the plain command."""
        return [self.python, *ISOLATED, str(INSIDE / script)]


@cache
def best() -> Box | None:
    """Return the best box of this machine, found once by trying; None where there is none."""
    wrap = Bubblewrap()
    if shutil.which("bwrap") and _succeeds([*wrap.command("confine.py", Limits())]):
        return wrap
    docker = Docker()
    return docker if docker.works() else None


def _succeeds(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@cache
def _is_root() -> bool:
    """Whether we may become any user: root, but not root of a container that has a few users only."""
    if os.geteuid() != 0:
        return False
    try:
        maps = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return False
    return any(first <= _USERS.start and _USERS.stop <= first + count for first, _, count in maps)
