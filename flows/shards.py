"""One cell shard by shard: render → infer → postprocess, so that the first request leaves while later rows are being rendered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pyarrow as pa

from flows import work
from flows.tally import Tally
from flows.work import Work
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.store import ArtifactRef
from leaderflow.core.types import Inferencer
from tasks.infer import InferStep
from tasks.postprocess import PostprocessStep
from tasks.render import RenderStep, Slice
from tasks.session import Session
from tasks.step import Outcome, Step
from templating import stage as templating

Do = Callable[[Step], Awaitable[Outcome]]


@dataclass
class Shards:
    """What a cell's shards left, in order."""

    prompts: list[ArtifactRef] = field(default_factory=list)
    outputs: list[ArtifactRef] = field(default_factory=list)
    extracted: list[ArtifactRef] = field(default_factory=list)


class ShardWalker:
    """Walks the shards of cells: those of the models, and those of their judges."""

    def __init__(self, session: Session, do: Do, tally: Tally) -> None:
        self.session, self.do, self.tally = session, do, tally
        self.size = session.spec.shard_size

    async def walk(self, cell: Work, samples: pa.Table, pool: pa.Table, examples: pa.Table) -> Shards:
        """Ask a cell's model about all samples."""
        cuts = list(work.cuts(samples.num_rows, self.size))
        labels, prior = labels_of(cell.dataset, cell.inferencer, samples), Counter[str]()
        asked: list[asyncio.Task[tuple[ArtifactRef, ArtifactRef]]] = []
        shards = Shards()
        async with asyncio.TaskGroup() as group:
            for index, (start, length) in enumerate(cuts, 1):
                name = cell.label if len(cuts) == 1 else f"{cell.label} [{index}/{len(cuts)}]"
                part = Slice(samples.slice(start, length), pool, examples.slice(start, length))
                prompts = await self._render(cell, name, part, labels, prior)
                shards.prompts.append(prompts)
                asked.append(group.create_task(self._ask(cell, name, prompts, part.samples)))
        shards.outputs = [task.result()[0] for task in asked]
        shards.extracted = [task.result()[1] for task in asked]
        return shards

    async def _render(self, cell: Work, name: str, part: Slice, labels: list[str] | None, prior: Counter[str]) -> ArtifactRef:
        """Render a shard; once more, with their counts, where it repeats inputs of earlier shards."""
        outcome = await self.do(RenderStep(self.session, name, cell.dataset, part, cell.target, labels))
        keys = await asyncio.to_thread(self._input_keys, outcome["prompts"])
        if seen := {key: prior[key] for key in set(keys) if key in prior}:
            part = Slice(part.samples, part.pool, part.examples, seen)
            outcome = await self.do(RenderStep(self.session, name, cell.dataset, part, cell.target, labels))
        prior.update(keys)
        self.tally.prompts(cell, outcome["prompts"])
        return outcome["prompts"]

    def _input_keys(self, ref: ArtifactRef) -> list[str]:
        keys: list[str] = self.session.store.read(ref).column("input_key").to_pylist()
        return keys

    async def _ask(self, cell: Work, name: str, prompts: ArtifactRef, samples: pa.Table) -> tuple[ArtifactRef, ArtifactRef]:
        asked = await self.do(InferStep(self.session, name, cell.dataset, cell.model, cell.inferencer, prompts))
        if asked.unanswered:
            table = await asyncio.to_thread(self.session.store.read, asked["outputs"])
            self.tally.unanswered(cell, table)
        self.tally.outputs(cell, asked["outputs"])
        post = PostprocessStep(self.session, name, cell.dataset, cell.model, cell.inferencer.choice, asked["outputs"], samples)
        extracted = await self.do(post)
        return asked["outputs"], extracted["extracted"]


def labels_of(dataset: DatasetSpec, inferencer: Inferencer, samples: pa.Table) -> list[str] | None:
    """Return the labels that an inferencer chooses among, if it does; refuses labels that do not cover the references."""
    if inferencer.choice is None:
        return None
    return templating.labels(dataset, samples, getattr(inferencer, "labels", None))
