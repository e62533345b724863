"""What one task does, Prefect apart: look the result up in the store, else compute it and write it.

A step is one stage of one cell, or of one shard of it. Steps are built by the driver; they hold references and small tables, and
Prefect never looks inside them.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from leaderflow.core import identity
from leaderflow.core.store import ArtifactRef, Record, Tabular
from leaderflow.core.types import Json
from tasks.session import Session

log = logging.getLogger("leaderflow.tasks")


class Outcome(BaseModel):
    """What a step gives back: references, never rows. `unanswered` counts rows with status ``error``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    record: Record
    cached: bool
    seconds: float
    unanswered: int = 0
    message: str = ""

    def __getitem__(self, table: str) -> ArtifactRef:
        return self.record.tables[table]


class Step(ABC):
    """One stage of one cell or shard."""

    stage: ClassVar[str]

    def __init__(self, session: Session, label: str) -> None:
        self.session = session
        self.label = label

    @abstractmethod
    def config(self) -> Json:
        """Return the part of the configuration that changes the result."""

    @abstractmethod
    def parents(self) -> list[str]:
        """Return the digests of the parent tables."""

    @abstractmethod
    def compute(self) -> Mapping[str, Tabular]:
        """Return the stage's tables, or their batches as they come."""

    def code(self) -> str:
        """Return what the stage's code is."""
        return identity.stage_code(self.stage)

    def elsewhere(self) -> Outcome | None:
        """Have the step done by another process, where that is who does it."""
        return None

    def reusable(self) -> bool:
        """Say whether a stored result may be taken."""
        return True

    def unanswered(self, tables: Mapping[str, Any]) -> tuple[int, str]:
        """Return how many rows have no answer, and why; such a result is written but never found under its key."""
        return 0, ""

    def notes(self) -> dict[str, Json]:
        """Return what is worth keeping beside the tables and is no part of the identity."""
        return {}

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Batch:
    """What one task run does: a step, or in a large run the same stage of several small cells."""

    label: str
    """What the Prefect UI shows, such as ``infer gsm8k · smollm2-135m [3/12]`` or ``score mmlu · smollm2-135m · 57 cells``."""
    steps: Sequence[Step]

    @property
    def stage(self) -> str:
        """The stage of all its steps."""
        return self.steps[0].stage


SIDE_BY_SIDE = 8
"""Infer steps of one batch at a time: small cells alone would leave a model's window half empty."""


def perform_all(batch: Batch) -> list[Outcome]:
    """Perform a batch's steps; those that wait for a model side by side."""
    if batch.stage != "infer" or len(batch.steps) == 1:
        return [perform(step) for step in batch.steps]
    with ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="leaderflow-batch") as pool:
        return list(pool.map(perform, batch.steps))


def perform(step: Step) -> Outcome:
    """Run a step: a stored result whose checksums hold is taken, anything else is computed and written."""
    started = time.monotonic()
    parts, key = _identity(step)
    if found := _stored(step, key):
        return Outcome(record=found, cached=True, seconds=time.monotonic() - started)
    if outcome := step.elsewhere():
        return outcome
    tables = step.compute()
    missing, message = step.unanswered(tables)
    record = step.session.store.write(step.stage, key, parts, tables, step.notes(), final=not missing)
    seconds = time.monotonic() - started
    log.debug("%s: computed in %.2f s", step.label, seconds)
    return Outcome(record=record, cached=False, seconds=seconds, unanswered=missing, message=message)


def peek(step: Step) -> Outcome | None:
    """Return a step's stored result if there is one, and run nothing."""
    started = time.monotonic()
    found = _stored(step, _identity(step)[1])
    return Outcome(record=found, cached=True, seconds=time.monotonic() - started) if found else None


def _identity(step: Step) -> tuple[dict[str, Json], str]:
    parts = identity.key_parts(step.stage, step.config(), step.parents(), step.code())
    return parts, identity.sha256_hex(identity.canonical_json(parts))


def _stored(step: Step, key: str) -> Record | None:
    store = step.session.store
    record = store.lookup(step.stage, key) if step.reusable() else None
    return record if record and store.intact(record) else None
