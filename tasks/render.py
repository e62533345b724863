"""render: the exact inputs of the model, shard by shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from leaderflow.core import identity
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from tasks.session import Session
from tasks.step import Step
from templating import stage
from templating.stage import Target


@dataclass(frozen=True)
class Slice:
    """A shard's part of the parents, `pool` whole; `prior` counts the equal inputs that earlier shards of the cell hold."""

    samples: pa.Table
    pool: pa.Table
    examples: pa.Table
    prior: Mapping[str, int] = field(default_factory=dict)


class RenderStep(Step):
    """Renders one shard."""

    stage = "render"

    def __init__(
        self, session: Session, label: str, dataset: DatasetSpec, part: Slice, target: Target, labels: list[str] | None
    ) -> None:
        super().__init__(session, f"render {label}")
        self.dataset, self.part, self.target, self.labels = dataset, part, target, labels

    def config(self) -> Json:
        """The templates and what rendering must know of the model."""
        config = {"render": stage.config(self.dataset, self.target, self.labels)}
        return config | ({"prior": dict(self.part.prior)} if self.part.prior else {})

    def parents(self) -> list[str]:
        """The shard's samples and examples, and the rows of the pool that the examples name."""
        used = {i for ids in self.part.examples.column("example_ids").to_pylist() for i in ids}
        chosen = [i in used for i in self.part.pool.column("sample_id").to_pylist()] if used else [False] * self.part.pool.num_rows
        pool = self.part.pool.filter(pa.array(chosen, type=pa.bool_()))
        return [identity.table_digest(table) for table in (self.part.samples, self.part.examples, pool)]

    def compute(self) -> Mapping[str, pa.Table]:
        """Render."""
        part = self.part
        prompts = stage.render(
            part.samples, part.pool, part.examples, self.dataset, self.target, labels=self.labels, prior=part.prior
        )
        return {"prompts": prompts}
