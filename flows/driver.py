"""The one driver that walks a plan. It is given `submit`: the Prefect tasks, or a plain thread pool.

Read every dataset, cut the shards, then per cell: retrieve, and shard by shard render → infer → postprocess, so that the first
request leaves while later rows are still being rendered; score once the cell is whole; summarise at the end.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from evaluators import stage as evaluators
from flows import work
from flows.submit import Submit
from flows.tally import Tally
from flows.work import Work
from leaderflow.core import identity
from leaderflow.core.artifacts import EXAMPLES, table_of
from leaderflow.core.manifest import CellEntry, Manifest
from leaderflow.core.specs import DatasetSpec, ModelSpec
from leaderflow.core.store import ArtifactRef
from reports.stage import Cell
from tasks.infer import InferStep
from tasks.postprocess import PostprocessStep
from tasks.read import ReadStep
from tasks.render import RenderStep, Slice
from tasks.retrieve import RetrieveStep
from tasks.score import ScoreStep
from tasks.session import Session
from tasks.step import Outcome, Step, peek
from tasks.summarize import SummarizeStep
from templating import stage as templating

SHARDS_IN_FLIGHT = 6
"""Infer steps of one model at a time: enough that its window stays full across shard borders."""

SHOWN_HITS = 200
"""Up to so many task runs, hits are submitted too (and shown as Cached); above, they are only counted."""


@dataclass
class Read:
    """One dataset after the read step."""

    samples: ArtifactRef
    pool: ArtifactRef
    rows: pa.Table
    pool_rows: pa.Table


@dataclass
class Shards:
    """What a cell's shards left, in order."""

    prompts: list[ArtifactRef] = field(default_factory=list)
    outputs: list[ArtifactRef] = field(default_factory=list)
    extracted: list[ArtifactRef] = field(default_factory=list)


class Driver:
    """Walks the plan of one run."""

    def __init__(self, session: Session, cells: Sequence[Work], submit: Submit, manifest: Manifest, tally: Tally) -> None:
        self.session, self.cells, self.submit, self.manifest, self.tally = session, cells, submit, manifest, tally
        self.read: dict[str, Read] = {}
        self.slots = {cell.model.abbr: asyncio.Semaphore(SHARDS_IN_FLIGHT) for cell in cells}
        self.quiet = False
        self.size = session.spec.shard_size

    async def walk(self) -> None:
        """Do everything; the manifest is complete afterwards.

        Raises:
            UsageError: the data are wrong; nothing was asked and no manifest written.
            BackendError: a model cannot be used at all.
        """
        await self._read_all()
        self.manifest.save(self.session.store)
        done = await self._models()
        summary = await self.do(SummarizeStep(self.session, done))
        self.manifest.summary = summary["summary"]

    async def do(self, step: Step) -> Outcome:
        """Submit a step and count it; in a large run a hit is taken without a task run."""
        outcome = await asyncio.to_thread(peek, step) if self.quiet else None
        outcome = outcome or await self.submit(step)
        self.tally.step(step, outcome)
        return outcome

    async def _read_all(self) -> None:
        datasets = {cell.dataset.abbr: cell.dataset for cell in self.cells}
        async with asyncio.TaskGroup() as group:
            for dataset in datasets.values():
                group.create_task(self._read(dataset))
        for cell in self.cells:
            await asyncio.to_thread(self._try, cell)
        counts = {name: read.samples.rows for name, read in self.read.items()}
        self.size = work.shard_size(self.session.spec, counts)
        shards = sum(len(list(work.cuts(n, self.size))) for n in counts.values()) * len(self.session.spec.models)
        self.quiet = shards * work.SHARD_STEPS + 2 * len(self.cells) > SHOWN_HITS

    async def _read(self, dataset: DatasetSpec) -> None:
        outcome = await self.do(ReadStep(self.session, dataset, pool=work.needs_pool(dataset)))
        store = self.session.store
        rows, pool = await asyncio.to_thread(lambda: (store.read(outcome["samples"]), store.read(outcome["pool"])))
        self.read[dataset.abbr] = Read(outcome["samples"], outcome["pool"], rows, pool)

    def _try(self, cell: Work) -> None:
        """Render one sample: what its columns and labels show to be wrong is refused before anything is asked."""
        read = self.read[cell.dataset.abbr]
        evaluators.check(cell.dataset, read.rows)
        example = read.pool_rows.column("sample_id").to_pylist()[:1]
        sample = read.rows.slice(0, 1)
        examples = table_of(EXAMPLES, [{"sample_id": sample.column("sample_id")[0].as_py(), "example_ids": example}])
        templating.render(sample, read.pool_rows.slice(0, 1), examples, cell.dataset, cell.target, labels=self._labels(cell))

    def _labels(self, cell: Work) -> list[str] | None:
        """Return the labels of a cell that chooses among some; refuses labels that do not cover the references."""
        if cell.inferencer.choice is None:
            return None
        return templating.labels(cell.dataset, self.read[cell.dataset.abbr].rows, getattr(cell.inferencer, "labels", None))

    async def _models(self) -> list[Cell]:
        """Walk the models: those behind an API side by side, local weights one after the other."""
        done: dict[str, Cell] = {}
        engine = asyncio.Lock()
        async with asyncio.TaskGroup() as group:
            for model in self.session.spec.models:
                own = [cell for cell in self.cells if cell.model.abbr == model.abbr]
                group.create_task(self._model(model, own, done, engine))
        return [done[cell.cell] for cell in self.cells]

    async def _model(self, model: ModelSpec, cells: Sequence[Work], done: dict[str, Cell], engine: asyncio.Lock) -> None:
        local = model.openai_api_base is None
        async with engine if local else asyncio.Lock():
            async with asyncio.TaskGroup() as group:
                for cell in cells:
                    group.create_task(self._cell(cell, done))
            if local:
                await asyncio.to_thread(self.session.release, model)

    async def _cell(self, cell: Work, done: dict[str, Cell]) -> None:
        read = self.read[cell.dataset.abbr]
        examples = await self.do(RetrieveStep(self.session, cell.dataset, cell.model, read.rows, read.pool_rows))
        rows = await asyncio.to_thread(self.session.store.read, examples["examples"])
        shards = await self._shards(cell, read, rows)
        step = ScoreStep(self.session, cell.label, cell.dataset, read.samples, shards.outputs, shards.extracted)
        scored = await self.do(step)
        done[cell.cell] = await self._finish(cell, read, examples["examples"], shards, scored)

    async def _shards(self, cell: Work, read: Read, examples: pa.Table) -> Shards:
        cuts = list(work.cuts(read.rows.num_rows, self.size))
        labels, prior = self._labels(cell), Counter[str]()
        asked: list[asyncio.Task[tuple[ArtifactRef, ArtifactRef]]] = []
        shards = Shards()
        async with asyncio.TaskGroup() as group:
            for index, (start, length) in enumerate(cuts, 1):
                name = cell.label if len(cuts) == 1 else f"{cell.label} [{index}/{len(cuts)}]"
                samples = read.rows.slice(start, length)
                part = Slice(samples, read.pool_rows, examples.slice(start, length))
                prompts = await self._render(cell, name, part, labels, prior)
                shards.prompts.append(prompts)
                asked.append(group.create_task(self._ask(cell, name, prompts, samples)))
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
        async with self.slots[cell.model.abbr]:
            step = InferStep(self.session, name, cell.dataset, cell.model, cell.inferencer, prompts)
            asked = await self.do(step)
        if asked.unanswered:
            table = await asyncio.to_thread(self.session.store.read, asked["outputs"])
            self.tally.unanswered(cell, table)
        self.tally.outputs(cell, asked["outputs"])
        post = PostprocessStep(self.session, name, cell.dataset, cell.model, cell.inferencer.choice, asked["outputs"], samples)
        extracted = await self.do(post)
        return asked["outputs"], extracted["extracted"]

    async def _finish(self, cell: Work, read: Read, examples: ArtifactRef, shards: Shards, scored: Outcome) -> Cell:
        """Enter a finished cell into the manifest and return what the summary needs of it."""
        metrics = await asyncio.to_thread(self.session.store.read, scored["metrics"])
        protocol = work.protocol(cell.dataset)
        entry = CellEntry(
            model=cell.model.abbr,
            dataset=cell.dataset.abbr,
            group=cell.dataset.group,
            mode=cell.inferencer.mode,
            version=identity.version_of(protocol, read.samples.digest),
            protocol=protocol,
            counts=scored.record.notes["counts"],
            tables={
                "samples": [read.samples],
                "pool": [read.pool],
                "examples": [examples],
                "prompts": shards.prompts,
                "outputs": shards.outputs,
                "extracted": shards.extracted,
                "scores": [scored["scores"]],
                "metrics": [scored["metrics"]],
            },
        )
        self.manifest.cells[cell.cell] = entry
        expected = next((g.expected for g in self.session.spec.summarizer.summary_groups if g.name == entry.group), None)
        return Cell(entry.model, entry.dataset, metrics, entry.counts, entry.version or "", entry.mode, entry.group, expected)
