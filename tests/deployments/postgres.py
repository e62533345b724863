"""PostgreSQL of the test's own (Debian's package), and a Prefect server on it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.server import healthy
from tests.deployments.support import end
from tests.ports import free_port


def binaries() -> Path | None:
    """The newest installed PostgreSQL's programs, if there are any."""
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)), None)


class Postgres:
    """A cluster in a folder; PostgreSQL refuses to run as root, so root hands it to the user postgres."""

    def __init__(self, folder: Path) -> None:
        programs = binaries()
        if programs is None:
            pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
        self.programs, self.folder, self.port = programs, folder, free_port()
        folder.mkdir()
        folder.parent.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        self._run("initdb", "--pgdata", str(folder / "db"), "--auth", "trust", "--username", "prefect", "--no-sync")
        self.start()
        self._run("createdb", "--host", "127.0.0.1", "--port", str(self.port), "--username", "prefect", "prefect")

    @property
    def url(self) -> str:
        return f"postgresql+asyncpg://prefect@127.0.0.1:{self.port}/prefect"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._run(
            "pg_ctl",
            "--pgdata",
            str(self.folder / "db"),
            "--log",
            str(self.folder / "log"),
            "--wait",
            "--options",
            options,
            "start",
        )

    def stop(self) -> None:
        self._run("pg_ctl", "--pgdata", str(self.folder / "db"), "--mode", "immediate", "--wait", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*user, str(self.programs / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def prefect_on(database: Postgres, folder: Path) -> Iterator[str]:
    """Run a Prefect server on a database; gives its address."""
    port = free_port()
    own = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment = {
        **own,
        "PREFECT_HOME": str(folder),
        "PREFECT_API_DATABASE_CONNECTION_URL": database.url,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PYTHONSAFEPATH": "1",
    }
    with (folder / "server.log").open("wb") as log:
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            api = f"http://127.0.0.1:{port}/api"
            deadline = time.monotonic() + 120
            while not healthy(api):
                assert process.poll() is None, "the server did not start"
                assert time.monotonic() < deadline, "the server did not become healthy"
                time.sleep(0.3)
            yield api
        finally:
            end(process)


@contextlib.contextmanager
def cluster() -> Iterator[Postgres]:
    """Run a cluster in a folder that the user postgres can reach."""
    database = Postgres(Path(tempfile.mkdtemp(prefix="leaderflow-")) / "postgres")
    try:
        yield database
    finally:
        database.stop()
        shutil.rmtree(database.folder.parent)


@contextlib.contextmanager
def server_on_postgres(home: Path) -> Iterator[str]:
    """Run a cluster and a Prefect server on it; gives the server's address."""
    with cluster() as database, prefect_on(database, home) as api:
        yield api
