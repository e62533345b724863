"""A Ray cluster on this machine, as `docs/scale.md` starts one: nodes of one CPU each, on loopback."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
STORE_BYTES = 100 * 2**20
START_S = 60


@dataclass
class RayCluster:
    """Where it is, and its nodes' processes."""

    address: str
    folder: Path
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add(self, *arguments: str, within: Sequence[str] = ()) -> None:
        """Add a node; `within` is a command that starts it in surroundings of its own."""
        command = [
            *within,
            sys.executable,
            "-c",
            "from ray.scripts.scripts import main; main()",
            "start",
            "--block",
            "--num-cpus=1",
        ]
        command += ["--node-ip-address=127.0.0.1", f"--object-store-memory={STORE_BYTES}", "--disable-usage-stats", *arguments]
        own = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1"}
        log = (self.folder / "ray.log").open("ab")
        with log:
            self.nodes.append(subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log))
        _wait_for(lambda: (self.folder / "ray.log").read_text().count("Ray runtime started") == len(self.nodes))

    def workers(self) -> list[psutil.Process]:
        """The processes that hold a replica."""
        found: list[psutil.Process] = []
        for node in self.nodes:
            with contextlib.suppress(psutil.NoSuchProcess):
                below = psutil.Process(node.pid).children(recursive=True)
                found += [process for process in below if "ray::Replica" in " ".join(_title(process))]
        return found


@contextlib.contextmanager
def ray_cluster(*arguments: str, nodes: int = 2, within: Sequence[str] = ()) -> Iterator[RayCluster]:
    """Run a cluster for the block, every node with these arguments of `ray start`; its processes are killed by their ids."""
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # a socket's path must be short
    address = f"127.0.0.1:{free_port()}"
    cluster = RayCluster(address, folder)
    try:
        port = address.rpartition(":")[2]
        cluster.add("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={folder}", *arguments, within=within)
        for _ in range(nodes - 1):
            cluster.add(f"--address={address}", *arguments, within=within)
        yield cluster
    finally:
        for node in cluster.nodes:
            kill(node.pid)
            node.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _title(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_S
    while not holds():
        assert time.monotonic() < deadline, f"no Ray node within {START_S} s"
        time.sleep(0.2)


def kill(node: int) -> None:
    """Kill a node by its process's id, with all that it started; others may end by themselves meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(node)
        for member in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
