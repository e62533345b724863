"""The first thing that runs in a sandbox: read the job, give up rights, set the limits. Standard library only."""

import json
import os
import resource
import sys


def begin():
    """Return the job that the parent sent ahead of everything else on standard input; this process is limited from here on."""
    size = int(_exactly(8))
    job = json.loads(_exactly(size))
    _give_up_root(job["uid"])
    _limit(job["limits"])
    sys.path.extend(job["path"])
    return job


def _exactly(size):
    """Read so many bytes and not one more: what follows belongs to somebody else."""
    parts = []
    while size > 0:
        part = os.read(0, size)
        if not part:
            raise SystemExit("the job was cut short")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _give_up_root(uid):
    """Become a user that owns nothing; one of its own, so that its limit of processes counts this sandbox alone."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _limit(limits):
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    for name, value in limits.items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        top = value + 1 if name == "RLIMIT_CPU" else value  # one second between the signal and the end
        if hard != resource.RLIM_INFINITY:
            top, value = min(top, hard), min(value, hard)
        resource.setrlimit(number, (value, top))
