"""The Ray cluster of a run: a model's workers (Ray actors) keep it loaded, and each infer step goes to the least busy one.

Actors and not Ray tasks: Ray ends a process with its task where a GPU was used, so a model would be loaded shard by shard.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from leaderflow import __version__
from leaderflow.core.errors import BackendError, LeaderflowError, StoreError, UsageError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.text import shortened
from tasks.job import Job, News
from tasks.placement import Place, placed
from tasks.replica import Replica
from tasks.session import Session
from tasks.shared import store_id
from tasks.step import Outcome

CONNECT_S = 5.0
"""To reach the cluster's head."""

PLACE_S = 600.0
"""To wait for a place for the first worker of a model, while other runs have the GPUs; for one more worker, a tenth of it."""

CLOSE_S = 30.0
"""What engines get to end by themselves."""

CALLS = 64
"""Jobs and commands of one worker at a time; the run sends fewer jobs, so that a command never waits."""


@dataclass(eq=False)
class Worker:
    """One replica as the run sees it."""

    actor: Any
    ready: Any
    """What comes of its first call: why it refuses, or None."""
    jobs: int = 0
    in_flight: int = 0


class Cluster:
    """The workers of one run.

    Args:
        session: the run's; hears every answer.

    Raises:
        UsageError: Ray is not installed, or no address is given.
        LeaderflowError: no cluster answers there.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ray, self._ours = connect(session.spec.ray_address or os.environ.get("RAY_ADDRESS") or "")
        self._id = store_id(session.store)
        self._workers: dict[str, list[Worker]] = defaultdict(list)
        self._places: dict[str, Place] = {}
        self._lock = threading.Lock()

    def place(self, models: Iterable[ModelSpec]) -> None:
        """See how many workers each model can have.

        Raises:
            SpecError: no node has what one of them needs.
        """
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        self._places = {model.abbr: placed(model, nodes) for model in models}

    def size(self, model: ModelSpec) -> int:
        """Return how many workers a model has at most."""
        return self._places[model.abbr].most

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        with self._lock:
            return sum(worker.in_flight for workers in self._workers.values() for worker in workers)

    def perform(self, job: Job) -> Outcome:
        """Have the least busy worker of the job's model do it.

        Raises:
            BackendError: the worker died (`retryable`: what it had answered is stored), or it cannot use the model.
            LeaderflowError: whatever else it found wrong.
        """
        worker = self._taken(job.model)
        try:
            return self._listen(worker, job)
        except self._ray.exceptions.RayTaskError as error:
            raise LeaderflowError(f"a Ray worker failed: {_last_line(error)}") from error
        except self._ray.exceptions.RayError as error:
            self._drop(job.model, worker)
            why = f"the Ray worker of {job.model.abbr} died ({_last_line(error)}); what it had answered is stored"
            raise BackendError(why, retryable=True) from error
        finally:
            with self._lock:
                worker.jobs -= 1

    def halt(self, reason: str) -> None:
        """Let no worker send a new request."""
        for worker in self._all():
            with contextlib.suppress(self._ray.exceptions.RayError):
                worker.actor.halt.remote(reason)

    def release(self, model: ModelSpec) -> None:
        """End a model's workers: their places are free for the next one."""
        with self._lock:
            workers = self._workers.pop(model.abbr, [])
        closing = [worker.actor.close.remote() for worker in workers]
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_S)
        for worker in workers:
            self._ray.kill(worker.actor)

    def close(self) -> None:
        """End all workers and leave the cluster; safe to call twice."""
        if not self._ray.is_initialized():
            return
        for worker in self._all():
            self._ray.kill(worker.actor)
        self._workers.clear()
        if self._ours:
            self._ray.shutdown()

    def _listen(self, worker: Worker, job: Job) -> Outcome:
        """Send a job and pass on what is heard until its outcome is there."""
        part = replace(job, model=self._places[job.model.abbr].part)
        for message in worker.actor.perform.options(num_returns="streaming").remote(part):
            said = self._ray.get(message)
            if isinstance(said, LeaderflowError):
                raise said
            if isinstance(said, Outcome):
                return said
            self._hear(worker, said)
        raise BackendError(f"the Ray worker of {job.model.abbr} ended without an outcome", retryable=True)

    def _hear(self, worker: Worker, news: News) -> None:
        worker.in_flight = news.in_flight
        for kind, name, answer in news.events:
            heard = self._session.heard if kind == "cell" else self._session.meter
            if heard is not None:
                heard(name, answer)

    def _taken(self, model: ModelSpec) -> Worker:
        """Return the least busy worker, one job busier; a new one where all are busy and there is room."""
        while True:
            with self._lock:
                workers = self._workers[model.abbr]
                worker = min(workers, key=lambda w: w.jobs, default=None)
                if worker is None or (worker.jobs and len(workers) < self.size(model)):
                    worker = self._started(model)
                    workers.append(worker)
                worker.jobs += 1
            if self._is_ready(model, worker):
                return worker

    def _started(self, model: ModelSpec) -> Worker:
        options = {"max_concurrency": CALLS, "scheduling_strategy": "SPREAD", **self._places[model.abbr].needs}
        actor = self._ray.remote(Replica).options(**options).remote(self._session.spec, self._session.store.files.address)
        return Worker(actor, actor.refusal.remote(__version__, self._id))

    def _is_ready(self, model: ModelSpec, worker: Worker) -> bool:
        """Wait for a worker's place and its first word; False where it found no place but another worker has one."""
        first = self._workers[model.abbr][:1] in ([worker], [])
        try:
            refusal = self._ray.get(worker.ready, timeout=PLACE_S if first else PLACE_S / 10)
        except self._ray.exceptions.GetTimeoutError:
            self._drop(model, worker)
            self._places[model.abbr].most = max(1, len(self._workers[model.abbr]))
            if first:
                raise BackendError(f"no node of the Ray cluster had room for {model.abbr} within {PLACE_S:.0f} s") from None
            return False
        except self._ray.exceptions.RayError as error:
            self._drop(model, worker)
            raise BackendError(f"no Ray worker for {model.abbr} can be started: {_last_line(error)}", retryable=True) from error
        if refusal is not None:
            raise StoreError(refusal)
        return True

    def _drop(self, model: ModelSpec, worker: Worker) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._workers[model.abbr].remove(worker)
        self._ray.kill(worker.actor)

    def _all(self) -> list[Worker]:
        with self._lock:
            return [worker for workers in self._workers.values() for worker in workers]


def connect(address: str) -> tuple[ModuleType, bool]:
    """Return Ray, connected to a cluster, and whether it was not connected before.

    Args:
        address: ``HOST:PORT``, or ``auto`` on one of the cluster's nodes.

    Raises:
        UsageError: Ray is not installed, or the address is none.
        LeaderflowError: no cluster answers there.
    """
    _see(address)
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray will do by default, and warns of until then
    try:
        import ray
    except ImportError:
        raise UsageError("task_runner: ray needs Ray; install it with `pip install 'leaderflow[ray]'`") from None
    if ray.is_initialized():
        return ray, False
    try:
        # In a thread of its own, because Ray would take SIGTERM away from whoever handles it.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(ray.init, address=address, log_to_driver=False, logging_level="ERROR").result()
    except Exception as error:
        why = f"cannot join the Ray cluster at {address}: {_last_line(error)}; start the run on one of its nodes"
        raise LeaderflowError(why) from error
    return ray, True


def _see(address: str) -> None:
    """See that somebody listens at the address: Ray itself would try for a long time."""
    if not address:
        raise UsageError("task_runner: ray needs the cluster's address; set RAY_ADDRESS or ray_address, such as 10.0.0.1:6379")
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "/" in address or not host or not port.isdecimal():
        raise UsageError(
            f"{address!r} is no address of a Ray cluster; write the HOST:PORT that `ray start --head` prints (not the ray:// one)"
        )
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise LeaderflowError(f"no Ray cluster answers at {address} ({error}); start it with `ray start --head`") from None


def _last_line(error: BaseException) -> str:
    """Return what an error says in its last line, which in Ray's is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shortened(lines[-1] if lines else type(error).__name__, 200)
