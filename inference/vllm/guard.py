"""Runs a server for one parent process and lets nothing of it outlive the parent, however that one ends.

``python guard.py PARENT_PID COMMAND…`` runs with nothing of leaderflow imported. A parent-death signal of the server's own would
hang on the *thread* that started it (prctl(2)), and leaderflow starts servers from threads that end; this process has one thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

import psutil

POLL_S = 0.2
GRACE_S = 15.0
"""How long the server may take to end by itself."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main(parent: int, command: list[str]) -> int:
    """Run the command until it ends, the parent is gone or SIGTERM comes; return its exit code."""
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda n, _: stopped.append(n))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # orphans of the server come to us, so that none is overlooked
    server = subprocess.Popen(command, preexec_fn=lambda: _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL))
    while server.poll() is None and not stopped and os.getppid() == parent:
        time.sleep(POLL_S)
    if server.poll() is None:
        server.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(GRACE_S)
    _end_descendants()
    return server.wait()


def _end_descendants() -> None:
    while descendants := psutil.Process().children(recursive=True):
        for process in descendants:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(descendants, timeout=POLL_S)


def _prctl(option: int, value: int) -> None:
    """Call prctl(2), which only Linux has."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]) & 0xFF)
