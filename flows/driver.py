"""The one driver that walks a plan. It is given `submit`: the Prefect tasks, or a plain thread pool.

Read every dataset, cut the shards, then per cell: retrieve, and shard by shard render → infer → postprocess, so that the first
request leaves while later rows are still being rendered; score once the cell is whole; summarise at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from evaluators import stage as evaluators
from flows import work
from flows.bundle import Bundle
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
from tasks.step import Batch, Outcome, Step, peek
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
        self.bundles: dict[str, Bundle] = {}
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

    async def do(self, step: Step, cell: Work | None = None) -> Outcome:
        """Do a step, in step with the others of its cell's bundle if it has one."""
        if cell is not None and (bundle := self.bundles.get(cell.cell)):
            return await bundle.do(step)
        return (await self.do_all([step], step.label))[0]

    async def do_all(self, steps: Sequence[Step], label: str) -> list[Outcome]:
        """Submit steps of one stage as one task run and count them; in a large run hits are taken without one."""
        async with self._slot(steps[0]):
            found = [await asyncio.to_thread(peek, step) if self.quiet else None for step in steps]
            left = [step for step, outcome in zip(steps, found, strict=True) if outcome is None]
            computed = iter(await self.submit(Batch(label, left)) if left else [])
        outcomes = [outcome or next(computed) for outcome in found]
        for step, outcome in zip(steps, outcomes, strict=True):
            self.tally.step(step, outcome)
        return outcomes

    def _slot(self, step: Step) -> contextlib.AbstractAsyncContextManager[Any]:
        return self.slots[step.model.abbr] if isinstance(step, InferStep) else contextlib.nullcontext()

    async def _read_all(self) -> None:
        datasets = list({cell.dataset.abbr: cell.dataset for cell in self.cells}.values())
        share = -(-len(datasets) // work.READS)
        self.quiet = share > 1
        async with asyncio.TaskGroup() as group:
            for at in range(0, len(datasets), share):
                group.create_task(self._read(datasets[at : at + share]))
        for cell in self.cells:
            await asyncio.to_thread(self._try, cell)
        self._plan()

    def _plan(self) -> None:
        """Choose the size of the shards, and which cells share their task runs."""
        spec, counts = self.session.spec, {name: read.samples.rows for name, read in self.read.items()}
        self.size = work.shard_size(spec, counts)
        runs = work.task_runs(spec, counts, self.size)
        self.quiet = runs > SHOWN_HITS
        small = [cell for cell in self.cells if counts[cell.dataset.abbr] <= self.size]
        for cells in work.bundles(small, runs):
            bundle = Bundle(cells, self.do_all)
            self.bundles.update({cell.cell: bundle for cell in cells})

    async def _read(self, datasets: Sequence[DatasetSpec]) -> None:
        steps = [ReadStep(self.session, dataset, pool=work.needs_pool(dataset)) for dataset in datasets]
        more = f" +{len(steps) - 1}" if len(steps) > 1 else ""
        outcomes = await self.do_all(steps, f"{steps[0].label}{more}")
        store = self.session.store
        for dataset, outcome in zip(datasets, outcomes, strict=True):
            rows, pool = (
                await asyncio.to_thread(store.read, outcome["samples"]),
                await asyncio.to_thread(store.read, outcome["pool"]),
            )
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
        examples = await self.do(RetrieveStep(self.session, cell.dataset, cell.model, read.rows, read.pool_rows), cell)
        rows = await asyncio.to_thread(self.session.store.read, examples["examples"])
        shards = await self._shards(cell, read, rows)
        step = ScoreStep(self.session, cell.label, cell.dataset, read.samples, shards.outputs, shards.extracted)
        scored = await self.do(step, cell)
        if bundle := self.bundles.get(cell.cell):
            bundle.leave()
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
        outcome = await self.do(RenderStep(self.session, name, cell.dataset, part, cell.target, labels), cell)
        keys = await asyncio.to_thread(self._input_keys, outcome["prompts"])
        if seen := {key: prior[key] for key in set(keys) if key in prior}:
            part = Slice(part.samples, part.pool, part.examples, seen)
            outcome = await self.do(RenderStep(self.session, name, cell.dataset, part, cell.target, labels), cell)
        prior.update(keys)
        self.tally.prompts(cell, outcome["prompts"])
        return outcome["prompts"]

    def _input_keys(self, ref: ArtifactRef) -> list[str]:
        keys: list[str] = self.session.store.read(ref).column("input_key").to_pylist()
        return keys

    async def _ask(self, cell: Work, name: str, prompts: ArtifactRef, samples: pa.Table) -> tuple[ArtifactRef, ArtifactRef]:
        asked = await self.do(InferStep(self.session, name, cell.dataset, cell.model, cell.inferencer, prompts), cell)
        if asked.unanswered:
            table = await asyncio.to_thread(self.session.store.read, asked["outputs"])
            self.tally.unanswered(cell, table)
        self.tally.outputs(cell, asked["outputs"])
        post = PostprocessStep(self.session, name, cell.dataset, cell.model, cell.inferencer.choice, asked["outputs"], samples)
        extracted = await self.do(post, cell)
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
