"""All processes of one model: started together, waited for, watched, ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

from inference.huggingface.weights import check_memory
from inference.vllm.devices import lease, visible
from inference.vllm.process import Launch, Member
from leaderflow.core.errors import BackendError

TRIES = 3
"""How often a member is started that ends by bad luck, such as a port that was taken."""

POLL_S = 0.25

Make = Callable[[Launch, Sequence[str] | None, Sequence[IO[bytes]]], Member]
"""Starts a member: its launch, the GPUs that it may see, the leases that it holds."""


class Fleet:
    """The processes of one model: all are ready, or none runs."""

    def __init__(self, launch: Launch, make: Make) -> None:
        self._launch, self._make = launch, make
        self._stopped, self._lock = threading.Event(), threading.Lock()
        self._members: list[Member] = []

    def start(self, died: Callable[[str], None]) -> list[Member]:
        """Start the processes, wait until all are ready, and return them.

        Args:
            died: called from another thread, with the reason, when one ends that nobody stopped.

        Raises:
            BackendError: one ended or was not ready in time, its GPU did not become free, or the weights
                do not fit into memory.
        """
        deadline = time.monotonic() + self._launch.patience
        if self._launch.weights is not None:
            check_memory(*self._launch.weights, copies=self._launch.replicas)
        try:
            for replica in range(self._launch.replicas):
                self._add(replica, deadline)
            for replica in range(self._launch.replicas):
                self._wait_for(replica, deadline)
        except BaseException:
            self.stop()
            raise
        for member in self._members:
            threading.Thread(target=self._watch, args=(member, died), name="vllm-watch", daemon=True).start()
        return list(self._members)

    def stop(self) -> None:
        """End the processes; whoever waits for their start hears of it."""
        with self._lock:
            self._stopped.set()
            for member in self._members:
                clean = member.ended is None
                member.stop()
                if clean:
                    member.forget()

    def _add(self, replica: int, deadline: float) -> None:
        """Start a replica's process, in place of one that has ended."""
        devices = visible(self._launch, replica)
        with lease(self._launch, devices, deadline, self._pause) as leases, self._lock:
            self._open()
            shown = devices if self._launch.replicas > 1 and devices else None
            self._members[replica : replica + 1] = [self._make(self._launch, shown, leases)]

    def _open(self) -> None:
        if self._stopped.is_set():
            raise BackendError(f"{self._launch.name}: the model is closed")

    def _pause(self) -> None:
        self._stopped.wait(POLL_S)
        self._open()

    def _wait_for(self, replica: int, deadline: float) -> None:
        for tried in range(1, TRIES + 1):
            member, name = self._members[replica], self._launch.name
            while member.ended is None and not member.ready():
                if time.monotonic() > deadline:
                    waited = f"{name}: vLLM was not ready within {self._launch.patience:g} s (`startup_timeout`)"
                    raise BackendError(f"{waited}; it last said: {member.last_words()}")
                self._pause()
            if member.ended is None:
                return
            self._open()
            if tried == TRIES or not member.may_start_again():
                raise BackendError(f"{name}: vLLM ended with code {member.ended} while starting: {member.last_words()}")
            self._add(replica, deadline)

    def _watch(self, member: Member, died: Callable[[str], None]) -> None:
        code = member.wait()
        if not self._stopped.is_set():
            died(f"vLLM ended with code {code}: {member.last_words()}")
