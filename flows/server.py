"""The local Prefect server: started once under LEADERFLOW_HOME, reused by every run, loopback only, SQLite."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import psutil
from pydantic import BaseModel

from leaderflow.core.errors import LeaderflowError
from leaderflow.core.files import write_whole
from leaderflow.core.paths import home

START_SECONDS = 120
ATTEMPTS = 3
"""A port that was free may be taken by another server while ours starts: then the next one is tried."""

FIRST_PORT = 4210
"""Prefect's own default is 4200: a server of the user's own keeps it."""


class Server(BaseModel):
    """A running local server."""

    pid: int
    port: int
    created: float
    """The process's start time: a pid alone may have been given to another process."""

    @property
    def api(self) -> str:
        """The address for clients."""
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def ui(self) -> str:
        """The address for people."""
        return f"http://127.0.0.1:{self.port}"

    def alive(self) -> bool:
        """Say whether this very process still runs."""
        try:
            process = psutil.Process(self.pid)
            return bool(abs(process.create_time() - self.created) < 1 and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False

    def listens(self) -> bool:
        """Say whether the port is its own: another server may have taken it while this one started."""
        try:
            process = psutil.Process(self.pid)
            family = [process, *process.children(recursive=True)]
            sockets = [socket_ for member in family for socket_ in member.net_connections(kind="tcp")]
        except psutil.Error:
            return False
        return any(socket_.status == psutil.CONN_LISTEN and socket_.laddr.port == self.port for socket_ in sockets)


def status() -> Server | None:
    """Return the local server if it runs."""
    try:
        server = Server.model_validate_json(_state_file().read_bytes())
    except (OSError, ValueError):
        return None
    return server if server.alive() else None


def start() -> Server:
    """Return the running local server, started now if there is none.

    Raises:
        LeaderflowError: it did not become healthy; the message ends with the log's last line.
    """
    with _only_one():
        for _ in range(ATTEMPTS):
            server = status() or _launch()
            if _up(server):
                return server
            if server.alive():
                break  # it is too slow: another one would not be faster
    raise LeaderflowError(
        f"the local Prefect server did not start on port {server.port}: {_last_line()} (log: {_log_file()}); "
        "set PREFECT_API_URL to a server of yours, or add --no-server"
    )


def _launch() -> Server:
    """Start a server and note it."""
    port = _free_port()
    folder = home() / "prefect"
    folder.mkdir(parents=True, exist_ok=True)
    with _log_file().open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
            env=_environment(folder, port),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=folder,
        )
    server = Server(pid=process.pid, port=port, created=psutil.Process(process.pid).create_time())
    write_whole(_state_file(), server.model_dump_json().encode())
    return server


def stop() -> bool:
    """Stop the local server; False where none runs."""
    server = status()
    if server is None:
        return False
    family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    for signal_number in (signal.SIGINT, signal.SIGKILL):
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal_number)
        _, family = psutil.wait_procs(family, timeout=10)
        if not family:
            break
    _state_file().unlink(missing_ok=True)
    return True


def healthy(api: str, timeout: float = 2.0) -> bool:
    """Say whether a Prefect API answers."""
    try:
        with urllib.request.urlopen(f"{api}/health", timeout=timeout) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def database_down(api: str, timeout: float = 10.0) -> bool:
    """Say whether a Prefect API that answers cannot reach its database."""
    try:
        with urllib.request.urlopen(f"{api}/ready", timeout=timeout):
            return False
    except urllib.error.HTTPError as error:
        return error.code == HTTPStatus.SERVICE_UNAVAILABLE
    except OSError:
        return False


def _up(server: Server) -> bool:
    """Wait until a server answers; False if it has ended or is too slow."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.alive():
        if server.listens() and healthy(server.api):
            return True
        time.sleep(0.2)
    return False


def _environment(folder: Path, port: int) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return {
        **own,
        "PREFECT_HOME": str(folder),
        "PREFECT_PROFILES_PATH": str(folder / "profiles.toml"),
        "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{folder / 'prefect.db'}",
        "PREFECT_SERVER_API_PORT": str(port),  # the UI asks this port, whatever --port says
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PYTHONSAFEPATH": "1",
    }


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    path = home() / "server.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _free_port() -> int:
    for port in range(FIRST_PORT, FIRST_PORT + 200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise LeaderflowError(f"no free port between {FIRST_PORT} and {FIRST_PORT + 200} for the local Prefect server; add --no-server")


def _last_line() -> str:
    try:
        lines = _log_file().read_text(errors="replace").strip().splitlines()
    except OSError:
        return "it left no log"
    return json.dumps(lines[-1][:200], ensure_ascii=False) if lines else "it left no log"


def _state_file() -> Path:
    return home() / "server.json"


def _log_file() -> Path:
    return home() / "server.log"
