"""The first thing that runs in a sandbox: read the job, give up rights, set the limits. Standard library only."""

from __future__ import annotations

import json
import os
import resource
import sys
from contextlib import suppress

TYPE_CHECKING = False  # typing takes longer to import than most programs take to run
if TYPE_CHECKING:
    from typing import Any


def begin() -> dict[str, Any]:
    """Return the job that the parent sent ahead of everything else on standard input; this process is limited from here on."""
    size = int(_exactly(8))
    job: dict[str, Any] = json.loads(_exactly(size))
    _give_up_root(job["uid"])
    _limit(job["limits"])
    sys.path.extend(job["path"])
    return job


def _exactly(size: int) -> bytes:
    """Read so many bytes and not one more: what follows belongs to somebody else."""
    parts = []
    while size > 0:
        part = os.read(0, size)
        if not part:
            raise SystemExit("the job was cut short")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _give_up_root(uid: int | None) -> None:
    """Become a user that owns nothing; one of its own, so that its limit of processes counts this sandbox alone."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _limit(limits: dict[str, int]) -> None:
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for name, value in limits.items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        top = value + 1 if name == "RLIMIT_CPU" else value  # one second between the signal and the end
        if hard != resource.RLIM_INFINITY:
            top, value = min(top, hard), min(value, hard)
        resource.setrlimit(number, (value, top))
