"""What all steps of one run share: the store, where data lies, and the models, opened when first needed and closed at the end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from inference.answers import AnswerStore, seconds
from inference.stage import make_backend
from leaderflow.core.errors import UsageError
from leaderflow.core.specs import EvaluationSpec, ModelSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Answer, Backend
from readers.stage import Source

if TYPE_CHECKING:
    from tasks.cluster import Cluster

Heard = Callable[[str, Answer], None]
"""Called with the cell (or the model) and each answer as it comes."""


class Session:
    """The open resources of one run; tasks get it as a handle, and nothing of it is in any key."""

    def __init__(self, spec: EvaluationSpec, store: Store, heard: Heard | None = None, meter: Heard | None = None) -> None:
        self.spec = spec
        self.store = store
        if spec.offline:
            os.environ["HF_HUB_OFFLINE"] = "1"  # the one switch that every library of the hub's heeds
        self.source = Source(Path(spec.data_dir) if spec.data_dir else None, spec.offline)
        self.heard, self.meter = heard, meter
        self.metered: set[str] = set()
        """Models that tell `meter` of each answer themselves, before the next request leaves."""
        self.halted: str | None = None
        """Why nothing more may be asked, if there is a reason."""
        self.cluster: Cluster | None = None
        """Who asks the models, where it is not this process."""
        self._backends: dict[str, Backend] = {}
        self._answers: dict[str, AnswerStore] = {}
        self._lock = threading.Lock()

    def backend(self, model: ModelSpec) -> Backend:
        """Return the model's backend; nothing is reached or loaded before the first request."""
        key = model.model_dump_json()
        with self._lock:
            if key not in self._backends:
                backend = self._backends[key] = make_backend(own_part(model))
                _halt(backend, self.halted)
                if self.meter is not None and (meter := getattr(backend, "meter", None)) is not None:
                    meter(partial(self.meter, model.abbr))
                    self.metered.add(model.abbr)
            return self._backends[key]

    def halt(self, reason: str) -> None:
        """Let no new request leave, to whatever model; what is in flight finishes and is stored."""
        with self._lock:
            self.halted = self.halted or reason
            for backend in self._backends.values():
                _halt(backend, self.halted)
        if self.cluster is not None:
            self.cluster.halt(reason)

    def in_flight(self) -> int:
        """Return how many requests are under way, for the models that can tell."""
        with self._lock:
            here = sum(getattr(backend, "in_flight", 0) for backend in self._backends.values())
        return here + (self.cluster.in_flight if self.cluster is not None else 0)

    def answers(self, model: ModelSpec) -> AnswerStore:
        """Return the answers stored for this model identity."""
        identity = self.backend(model).identity
        with self._lock:
            if identity not in self._answers:
                self._answers[identity] = AnswerStore(self.store, identity, seconds(model.max_age) if model.max_age else None)
            return self._answers[identity]

    def release(self, model: ModelSpec) -> None:
        """Close one model's backend: its last cell is done."""
        with self._lock:
            backend = self._backends.pop(model.model_dump_json(), None)
        if backend is not None:
            backend.close()
        if self.cluster is not None:
            self.cluster.release(model)

    def close(self) -> None:
        """Close everything; safe to call twice."""
        for key in list(self._backends):
            self._backends.pop(key).close()
        if self.cluster is not None:
            self.cluster.close()


def own_part(model: ModelSpec) -> ModelSpec:
    """Return the model with this worker's part of its requests and tokens a minute.

    ``LEADERFLOW_RATE_SHARE`` says what part of an account's limits this process may use: ``0.25`` for one of four workers.

    Raises:
        UsageError: it is no number above 0 and up to 1.
    """
    text = os.environ.get("LEADERFLOW_RATE_SHARE") or "1"
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"LEADERFLOW_RATE_SHARE must be a number above 0 and up to 1, not {text!r}")
    limits = {name: limit and max(1, int(limit * share)) for name, limit in (("rpm", model.rpm), ("tpm", model.tpm))}
    return model if share == 1 else model.model_copy(update=limits)


def _halt(backend: Backend, reason: str | None) -> None:
    """Tell a backend that sends on its own; from the others no more is asked (`inference.stage.infer`)."""
    if reason is not None and (halt := getattr(backend, "halt", None)) is not None:
        halt(reason)
