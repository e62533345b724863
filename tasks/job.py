"""What passes between a run and the workers of a cluster: configuration, references, counts. Never rows, engines or keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from leaderflow.core.specs import DatasetSpec, ModelSpec
from leaderflow.core.store import ArtifactRef
from leaderflow.core.types import Answer

Event = tuple[Literal["cell", "model"], str, Answer]
"""An answer that came, without its text: for a cell's progress, or for the budget of a model that tells of every turn."""


@dataclass(frozen=True, slots=True)
class Job:
    """One infer step."""

    label: str
    dataset: DatasetSpec
    model: ModelSpec
    prompts: ArtifactRef
    identity: str
    """What the run takes the model for; a worker with other weights or versions must not answer."""
    since: float
    """Answers stored before this time do not count for a run that asks afresh (seconds since the epoch)."""
    halted: str | None
    """Why nothing more may be asked."""


@dataclass(frozen=True, slots=True)
class News:
    """What a worker tells while it is at work."""

    events: Sequence[Event]
    in_flight: int
