"""The processes of vLLM: started on a free port, waited for, watched, ended."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderflow.core.errors import BackendError
from leaderflow.core.paths import home
from leaderflow.core.text import shortened

GUARD = Path(__file__).with_name("guard.py")

PORTS_TRIED = 3
"""Between choosing a free port and using it, somebody else may take it."""

STOP_S = 30.0

_OURS = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONSAFEPATH"})
"""What belongs to leaderflow's Python and would mislead another one."""

_REASON = re.compile(r"^\S*\s*(?:\(.*?\)\s*)?(?:ERROR .*\] )?((?:[\w.]*\.)?\w*(?:Error|Exception|Interrupt)\b.*)")


@dataclass(frozen=True)
class Launch:
    """How the servers of one model are started.

    Args:
        name: the model's, for messages and the log's file.
        command: the command without ``--host`` and ``--port``.
        env: what is added to the environment.
        replicas: how many servers.
        devices: GPUs of one server; None: the servers see whatever leaderflow sees.
        patience: seconds until a server must be healthy.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    replicas: int
    devices: int | None
    patience: float


class Server:
    """One process, with its log."""

    def __init__(self, launch: Launch, replica: int) -> None:
        self.port = _free_port()
        self.log = _log_file(f"vllm-{launch.name}-{self.port}.log")
        command = [*launch.command, "--host", "127.0.0.1", "--port", str(self.port)]
        env = {name: value for name, value in os.environ.items() if name not in _OURS}
        env |= {"VLLM_NO_USAGE_STATS": "1", **launch.env, **_visible(launch.devices, replica)}
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(GUARD), str(os.getpid()), *command],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is leaderflow's to answer
            )

    @property
    def base_url(self) -> str:
        """The address of its API."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def ended(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.poll()

    def healthy(self) -> bool:
        """Say whether it answers that it can be asked."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{self.port}/health", timeout=5) as reply:
                return bool(reply.status == 200)
        except (OSError, http.client.HTTPException):
            return False

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
        lines = [line.strip() for line in self._tail().splitlines() if line.strip()]
        reasons = [match[1] for line in lines if (match := _REASON.match(line))]
        said = reasons[-1] if reasons else " | ".join(lines[-3:]) or "the log is empty"
        return f"{shortened(said, 400)} (log: {self.log})"

    def forget(self) -> None:
        """Remove the log of a server that did its work."""
        self.log.unlink(missing_ok=True)

    def port_taken(self) -> bool:
        """Say whether it ended because its port was taken."""
        return "address already in use" in self._tail().lower()

    def _tail(self) -> str:
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 16384))
            return file.read().decode("utf-8", "replace")
        return ""


class Fleet:
    """The servers of one model: all are healthy, or none runs."""

    def __init__(self, launch: Launch) -> None:
        self._launch, self._stopped = launch, threading.Event()
        self._servers: list[Server] = []
        self._lock = threading.Lock()

    def start(self, died: Callable[[str], None]) -> list[str]:
        """Start the servers, wait until they are healthy, and return their addresses.

        Args:
            died: called from another thread, with the reason, when a server ends that nobody stopped.

        Raises:
            BackendError: a server ended, or was not healthy in time.
        """
        try:
            with self._lock:
                self._open()
                self._servers = [Server(self._launch, replica) for replica in range(self._launch.replicas)]
            deadline = time.monotonic() + self._launch.patience
            for place in range(len(self._servers)):
                self._wait_for(place, deadline)
        except BaseException:
            self.stop()
            raise
        for server in self._servers:
            threading.Thread(target=self._watch, args=(server, died), name="vllm-watch", daemon=True).start()
        return [server.base_url for server in self._servers]

    def stop(self) -> None:
        """End the servers; whoever waits for their start hears of it."""
        with self._lock:
            self._stopped.set()
            for server in self._servers:
                clean = server.ended is None
                server.stop()
                if clean:
                    server.forget()

    def _open(self) -> None:
        if self._stopped.is_set():
            raise BackendError(f"{self._launch.name}: the model is closed")

    def _wait_for(self, place: int, deadline: float) -> None:
        for tried in range(1, PORTS_TRIED + 1):
            server, name = self._servers[place], self._launch.name
            while server.ended is None and not server.healthy():
                self._open()
                if time.monotonic() > deadline:
                    waited = f"{name}: vLLM was not ready within {self._launch.patience:g} s (`startup_timeout`)"
                    raise BackendError(f"{waited}; it last said: {server.last_words()}")
                self._stopped.wait(0.25)
            if server.ended is None:
                return
            self._open()
            if tried == PORTS_TRIED or not server.port_taken():
                raise BackendError(f"{name}: vLLM ended with code {server.ended} while starting: {server.last_words()}")
            with self._lock:
                self._servers[place] = Server(self._launch, place)

    def _watch(self, server: Server, died: Callable[[str], None]) -> None:
        code = server.wait()
        if not self._stopped.is_set():
            died(f"vLLM ended with code {code}: {server.last_words()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _log_file(name: str) -> Path:
    file = home() / "logs" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _visible(devices: int | None, replica: int) -> dict[str, str]:
    """Return which GPUs a replica sees: its share of those that leaderflow may use."""
    if devices is None:
        return {}
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    mine = range(replica * devices, (replica + 1) * devices)
    if listed is None:
        return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, mine))}
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if len(names) < mine.stop:
        raise BackendError(f"replica {replica + 1} needs {devices} GPUs more than CUDA_VISIBLE_DEVICES lists ({listed})")
    return {"CUDA_VISIBLE_DEVICES": ",".join(names[place] for place in mine)}
