"""A process of vLLM under guard: started, with its log, watched, ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from inference.api.endpoint import Endpoint
from inference.vllm.environment import clean_environment
from leaderflow.core.paths import home
from leaderflow.core.text import shortened

GUARD = Path(__file__).with_name("guard.py")

STOP_S = 30.0

_REASON = re.compile(
    r"^(?:\(.*?\)\s*)?(?:ERROR .*?\]\s*)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?::.*)?)$"
    r"|^(?P<value>Value error, .*)|^\S+\.py: error: (?P<usage>.*)"
)
"""The last line of a trace, with or without who logged it; what pydantic says below it; what is wrong with a command line."""

_ECHO = re.compile(r"EngineDeadError|Engine core initialization failed")
"""What vLLM says last, in place of the reason: that it stands above."""

_TAIL = 65536
"""Bytes of the log's end in which the reason is looked for: each of vLLM's processes writes its own trace."""

_KILLED = frozenset({128 + signal.SIGKILL, -signal.SIGKILL, 256 - signal.SIGKILL})
"""Exit codes of what SIGKILL ended, the guard's own form of it included."""


@dataclass(frozen=True)
class Launch:
    """How the processes of one model are started.

    Args:
        name: the model's, for messages and the log's file.
        command: the command; a server's port is added.
        env: what is added to the environment.
        replicas: how many processes.
        devices: GPUs of one process; 0 on a CPU.
        share: the part of a GPU's memory that a process takes.
        patience: seconds until a process must be ready.
        weights: where the weights lie that all processes load into this machine's memory, and their dtype; None on GPUs.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    replicas: int = 1
    devices: int = 0
    share: float = 1.0
    patience: float = 1800.0
    weights: tuple[Path, str] | None = None


class Member(Protocol):
    """One of the processes that answer for a model."""

    @property
    def base_url(self) -> str:
        """What tells its window from others."""
        ...

    @property
    def ended(self) -> int | None:
        """The exit code, or None while it runs."""
        ...

    def ready(self) -> bool:
        """Say whether it can be asked."""
        ...

    def may_start_again(self) -> bool:
        """Say whether it ended by bad luck that another start may not have."""
        ...

    def wait(self) -> int:
        """Wait until it ends and return its exit code."""
        ...

    def stop(self) -> None:
        """End it, with everything that it started."""
        ...

    def last_words(self) -> str:
        """Return what the end of the log says on one line, and where the log is."""
        ...

    def forget(self) -> None:
        """Remove the log of one that did its work."""
        ...

    async def post(self, endpoint: Endpoint, path: str, body: bytes, headers: dict[str, str], timeout: float) -> bytes:
        """Ask it, and return the reply's body; raises as `Endpoint.post`."""
        ...


class Process:
    """A process of a model's and its log.

    Args:
        launch: how it is started.
        tag: tells its log from others of the model.
        words: what is added to the command.
        devices: names of the GPUs that it may see; None: whatever leaderflow sees.
        leases: open files that must stay open as long as it lives.
        pipes: pipe its standard streams in and out.
    """

    def __init__(
        self,
        launch: Launch,
        tag: object,
        words: Sequence[str] = (),
        *,
        devices: Sequence[str] | None = None,
        leases: Sequence[IO[bytes]] = (),
        pipes: bool = False,
    ) -> None:
        self.log = _log_file(f"vllm-{launch.name}-{tag}.log")
        env = {**clean_environment(), "VLLM_NO_USAGE_STATS": "1", **launch.env}
        env |= {} if devices is None else {"CUDA_VISIBLE_DEVICES": ",".join(devices)}
        with self.log.open("wb") as out:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            streams |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} if pipes else {}
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(GUARD), str(os.getpid()), *launch.command, *words],
                env=env,
                pass_fds=[lease.fileno() for lease in leases],
                start_new_session=True,  # Ctrl-C is leaderflow's to answer
                **streams,
            )

    @property
    def ended(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Wait until it ends and return its exit code."""
        return self._process.wait()

    def stop(self) -> None:
        """End it, with everything that it started."""
        if self.ended is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()  # what it guards goes with it, by the parent-death signal
                self._process.wait()

    def last_words(self) -> str:
        """Return what the end of the log says on one line, and where the log is."""
        lines = [line.strip() for line in self.tail().splitlines() if line.strip()]
        reasons = [match[1] or match["value"] or match["usage"] for line in lines if (match := _REASON.match(line))]
        reasons = [reason for reason in reasons if not _ECHO.search(reason)] or reasons
        said = reasons[-1] if reasons else " | ".join(lines[-3:]) or "the log is empty"
        killed = "it was killed, as the system does with what takes too much memory; it last said: "
        return f"{killed if self.ended in _KILLED else ''}{shortened(said, 400)} (log: {self.log})"

    def forget(self) -> None:
        """Remove the log of one that did its work."""
        self.log.unlink(missing_ok=True)

    def tail(self) -> str:
        """Return the end of the log."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - _TAIL))
            return file.read().decode("utf-8", "replace")
        return ""


def _log_file(name: str) -> Path:
    file = home() / "logs" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
