"""One replica of a model on a machine of a cluster: a process that keeps its engine warm from job to job.

Plain Python, like every step; `tasks.cluster` makes a Ray actor of it.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Literal

from leaderflow import __version__
from leaderflow.core import registry
from leaderflow.core.errors import BackendError, LeaderflowError
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Answer
from tasks.infer import InferStep
from tasks.job import Event, Job, News
from tasks.session import Session
from tasks.shared import store_id
from tasks.step import Outcome, perform

EVERY_S = 0.25
"""How often a worker tells what has come: a cap on cost or tokens is late by as much."""


class Replica:
    """A worker of one run: it opens the run's model when it is first asked, and then keeps it.

    Args:
        spec: the run's.
        store: where the run's store is.
    """

    def __init__(self, spec: EvaluationSpec, store: str) -> None:
        os.environ["LEADERFLOW_RATE_SHARE"] = "1"  # the whole of a block's rates: the run has cut out this process's part
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._lock, self._connected = threading.Lock(), False
        self._store = Store(store)
        self._session = Session(spec, self._store, partial(self._hear, "cell"), partial(self._hear, "model"))

    def refusal(self, version: str, store: str) -> str | None:
        """Return why this machine cannot work for the run, if there is a reason.

        Args:
            version: leaderflow's, of the run.
            store: the id of the run's store.
        """
        host = platform.node()
        if version != __version__:
            return f"the Ray worker on {host} has leaderflow {__version__}, the run {version}; install the same on all nodes"
        try:
            own = store_id(self._store)
        except LeaderflowError as error:
            return f"the Ray worker on {host}: {error}"
        if own != store:
            return (
                f"the Ray worker on {host} does not have the run's store at {self._store.files.place}: "
                "LEADERFLOW_STORE must be a folder that all nodes mount at the same place, or an object store"
            )
        return None

    def perform(self, job: Job) -> Iterator[News | Outcome | LeaderflowError]:
        """Do a job; yields what is heard meanwhile, and at the end the outcome or what was wrong."""
        if job.halted:
            self.halt(job.halted)
        with ThreadPoolExecutor(1) as pool:
            outcome = pool.submit(self._perform, job)
            while not wait([outcome], timeout=EVERY_S).done:
                yield self._news()
        yield self._news()
        try:
            yield outcome.result()
        except LeaderflowError as error:
            yield error

    def halt(self, reason: str) -> None:
        """Send no new request; what is in flight finishes and is stored."""
        self._session.halt(reason)

    def close(self) -> None:
        """Free the model."""
        self._session.close()

    def _perform(self, job: Job) -> Outcome:
        inferencer = registry.build("inferencer", job.dataset.infer_cfg.inferencer, repeats=job.dataset.n)
        step = InferStep(self._session, job.label, job.dataset, job.model, inferencer, job.prompts)
        own = self._session.backend(job.model).identity
        if own != job.identity:
            raise BackendError(
                f"the Ray worker on {platform.node()} means another {job.model.abbr} than the run: {own}, not {job.identity}; "
                "all nodes need the same weights and versions, and local weights a dtype in their model block"
            )
        self._session.answers(job.model).opened_at = job.since
        with self._lock:  # by one job: what two threads import at once may be seen half done
            if not self._connected:
                self._session.backend(job.model).connect()
            self._connected = True
        return perform(step)

    def _hear(self, kind: Literal["cell", "model"], name: str, answer: Answer) -> None:
        self._events.put((kind, name, replace(answer, output="", reasoning=None, turns=None, token_logprobs=None)))

    def _news(self) -> News:
        events: list[Event] = []
        try:
            while True:
                events.append(self._events.get_nowait())
        except Empty:
            return News(events, self._session.in_flight())
