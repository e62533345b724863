"""Which GPUs a process may use, and the right to use them.

Two models that each take nine tenths of one GPU cannot both start. So a process of vLLM holds as many tenths of each of its GPUs as
it takes memory of it; who gets none waits. The tenths are bytes of a lock file in LEADERFLOW_HOME, under locks that belong to the
open file (Linux's OFD locks): the guard inherits it, so that they are free when the last process of a model is gone, and no sooner.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import math
import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from inference.vllm.process import Launch
from leaderflow.core.errors import BackendError
from leaderflow.core.paths import home

log = logging.getLogger("leaderflow.vllm")

PARTS = 10


def visible(launch: Launch, replica: int) -> list[str]:
    """Return the GPUs of a replica: its share of those that leaderflow may use; none on a CPU.

    Raises:
        BackendError: there are too few for another replica.
    """
    first = replica * launch.devices
    mine = range(first, first + launch.devices)
    listed = launch.env.get("CUDA_VISIBLE_DEVICES", os.environ.get("CUDA_VISIBLE_DEVICES"))
    if listed is None:
        return [str(number) for number in mine]
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if launch.replicas > 1 and len(names) < mine.stop:
        raise BackendError(
            f"replica {replica + 1} needs {launch.devices} GPUs more than CUDA_VISIBLE_DEVICES lists ({listed}); lower `replicas`"
        )
    return names[mine.start : mine.stop]


@contextlib.contextmanager
def lease(launch: Launch, devices: Sequence[str], deadline: float, pause: Callable[[], None]) -> Iterator[list[IO[bytes]]]:
    """Hold the launch's share of GPUs, and yield the open files that a process must inherit to hold it from then on.

    Args:
        launch: whose share.
        devices: the GPUs.
        deadline: until when (`time.monotonic`) it is waited for.
        pause: called between two tries; an error of it ends the wait.

    Raises:
        BackendError: another model has a GPU, and keeps it until the deadline.
    """
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(_file(device)) for device in devices]
        for device, file in zip(devices, files, strict=True):
            _take(launch, device, file, deadline, pause)
        yield files


def _file(device: str) -> IO[bytes]:
    path = home() / "locks" / f"gpu-{device.replace('/', '-')}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a+b")


def _take(launch: Launch, device: str, file: IO[bytes], deadline: float, pause: Callable[[], None]) -> None:
    wanted, told = max(1, math.ceil(launch.share * PARTS - 1e-9)), False
    while not _lock(file, wanted):
        file.seek(0)
        user = file.read().decode("utf-8", "replace") or "another model"
        if time.monotonic() > deadline:
            raise BackendError(
                f"{launch.name}: GPU {device} is still in use by {user}; wait for it to end, choose another GPU by "
                "CUDA_VISIBLE_DEVICES, or let both models fit with `engine_args: {gpu_memory_utilization: 0.45}`"
            )
        if not told:
            log.warning("%s: waiting for GPU %s, which is in use by %s", launch.name, device, user)
        told = True
        pause()
    file.truncate(0)
    file.write(f"{launch.name} (of process {os.getpid()})".encode())
    file.flush()


def _lock(file: IO[bytes], wanted: int) -> bool:
    """Lock so many of the parts; none where too few are free."""
    taken = [part for part in range(PARTS) if _set(file, part, fcntl.F_WRLCK)]
    for part in taken[wanted:] if len(taken) >= wanted else taken:
        _set(file, part, fcntl.F_UNLCK)
    return len(taken) >= wanted


def _set(file: IO[bytes], part: int, kind: int) -> bool:
    if not hasattr(fcntl, "F_OFD_SETLK"):  # not Linux: no GPU that vLLM could use either
        return True
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", kind, os.SEEK_SET, part, 1, 0))
    except BlockingIOError:
        return False
    return True
