"""The one driver that walks a plan. It is given `submit`: the Prefect tasks, or a plain thread pool.

Read every dataset, then per cell: retrieve, and shard by shard render → infer → postprocess (`flows.shards`); ask its judges
(`flows.judge`) and score once the cell is whole; summarise at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from evaluators import stage as evaluators
from flows import work
from flows.alarms import cell_alarms
from flows.bundle import Bundle
from flows.judge import Bench, Judges, try_judges
from flows.shards import Shards, ShardWalker, labels_of
from flows.steps import Steps
from flows.submit import Submit
from flows.tally import Tally
from flows.work import Work
from leaderflow.core import identity
from leaderflow.core.artifacts import EXAMPLES, table_of
from leaderflow.core.manifest import CellEntry, Manifest
from leaderflow.core.specs import DatasetSpec, ModelSpec
from leaderflow.core.store import ArtifactRef
from reports.stage import Cell
from tasks.read import ReadStep
from tasks.retrieve import RetrieveStep
from tasks.score import ScoreStep
from tasks.session import Session
from tasks.step import Outcome
from tasks.summarize import SummarizeStep
from templating import stage as templating

SHOWN_HITS = 200
"""Up to so many task runs, hits are submitted too (and shown as Cached); above, they are only counted."""


@dataclass
class Read:
    """One dataset after the read step."""

    samples: ArtifactRef
    pool: ArtifactRef
    rows: pa.Table
    pool_rows: pa.Table


class Driver:
    """Walks the plan of one run."""

    def __init__(self, session: Session, cells: Sequence[Work], submit: Submit, manifest: Manifest, tally: Tally) -> None:
        self.session, self.cells, self.manifest, self.tally = session, cells, manifest, tally
        self.read: dict[str, Read] = {}
        self.steps = Steps(submit, tally)
        self.do = self.steps.do
        self.walker = ShardWalker(session, self.do, tally)
        self.judges = Judges(session, self.do, self.walker)
        self.bundles: dict[str, Bundle] = {}

    async def walk(self) -> None:
        """Do everything; the manifest is complete afterwards.

        Raises:
            UsageError: the data are wrong; nothing was asked and no manifest written.
            BackendError: a model cannot be used at all.
        """
        await self._read_all()
        self.manifest.save(self.session.store)
        done = await self._models()
        self.manifest.cells = {cell.cell: self.manifest.cells[cell.cell] for cell in self.cells}  # as they were asked for
        summary = await self.do(SummarizeStep(self.session, done))
        self.manifest.summary = summary["summary"]

    async def _read_all(self) -> None:
        datasets = list({cell.dataset.abbr: cell.dataset for cell in self.cells}.values())
        share = -(-len(datasets) // work.READS)
        self.steps.quiet = share > 1
        async with asyncio.TaskGroup() as group:
            for at in range(0, len(datasets), share):
                group.create_task(self._read(datasets[at : at + share]))
        questions = {cell.dataset.abbr: await asyncio.to_thread(self._try, cell) for cell in self.cells}
        self._plan(questions)

    def _plan(self, questions: Mapping[str, int]) -> None:
        """Choose the size of the shards, and which cells share their task runs; `questions` to judges count like samples."""
        spec, counts = self.session.spec, {name: read.samples.rows + questions[name] for name, read in self.read.items()}
        self.walker.size = work.shard_size(spec, counts)
        runs = work.task_runs(spec, counts, self.walker.size)
        self.steps.quiet = runs > SHOWN_HITS
        small = [cell for cell in self.cells if counts[cell.dataset.abbr] <= self.walker.size and not cell.judges]
        for cells in work.bundles(small, runs):
            bundle = Bundle(cells, self.steps.do_all)
            self.bundles.update({cell.cell: bundle for cell in cells})

    async def _read(self, datasets: Sequence[DatasetSpec]) -> None:
        steps = [ReadStep(self.session, dataset, pool=work.needs_pool(dataset)) for dataset in datasets]
        more = f" +{len(steps) - 1}" if len(steps) > 1 else ""
        outcomes = await self.steps.do_all(steps, f"{steps[0].label}{more}")
        for dataset, outcome in zip(datasets, outcomes, strict=True):
            refs = outcome["samples"], outcome["pool"]
            rows, pool = [await asyncio.to_thread(self.session.store.read, ref) for ref in refs]
            self.read[dataset.abbr] = Read(*refs, rows, pool)

    def _try(self, cell: Work) -> int:
        """Render one sample: what its columns and labels show to be wrong is refused before anything is asked.

        Returns:
            How many questions its judges may be asked.
        """
        read = self.read[cell.dataset.abbr]
        evaluators.check(cell.dataset, read.rows)
        example = read.pool_rows.column("sample_id").to_pylist()[:1]
        sample = read.rows.slice(0, 1)
        examples = table_of(EXAMPLES, [{"sample_id": sample.column("sample_id")[0].as_py(), "example_ids": example}])
        templating.render(
            sample,
            read.pool_rows.slice(0, 1),
            examples,
            cell.dataset,
            cell.target,
            labels=labels_of(cell.dataset, cell.inferencer, read.rows),
        )
        return try_judges(cell, read.rows)

    async def _models(self) -> list[Cell]:
        """Walk the models: those behind an API side by side, local weights one after the other; after them what waits for all."""
        done: dict[str, Cell] = {}
        waiting: list[Bench] = []
        engine = asyncio.Lock()
        async with asyncio.TaskGroup() as group:
            for model in self.session.spec.models:
                own = [cell for cell in self.cells if cell.model.abbr == model.abbr]
                group.create_task(self._model(model, own, done, waiting, engine))
        await self.judges.ask(waiting)
        async with asyncio.TaskGroup() as group:
            for bench in waiting:
                group.create_task(self._score(bench, done))
        return [done[cell.cell] for cell in self.cells]

    async def _model(
        self, model: ModelSpec, cells: Sequence[Work], done: dict[str, Cell], waiting: list[Bench], engine: asyncio.Lock
    ) -> None:
        local = model.openai_api_base is None
        async with engine if local else asyncio.Lock():
            async with asyncio.TaskGroup() as group:
                for cell in cells:
                    group.create_task(self._in_step(cell, done, waiting))
            if local:
                await asyncio.to_thread(self.session.release, model)

    async def _in_step(self, cell: Work, done: dict[str, Cell], waiting: list[Bench]) -> None:
        """Walk a cell, in step with the others of its bundle if it has one."""
        if bundle := self.bundles.get(cell.cell):
            with bundle.member():
                await self._cell(cell, done, waiting)
        else:
            await self._cell(cell, done, waiting)

    async def _cell(self, cell: Work, done: dict[str, Cell], waiting: list[Bench]) -> None:
        read = self.read[cell.dataset.abbr]
        examples = await self.do(RetrieveStep(self.session, cell.dataset, cell.model, read.rows, read.pool_rows))
        rows = await asyncio.to_thread(self.session.store.read, examples["examples"])
        shards = await self.walker.walk(cell, read.rows, read.pool_rows, rows)
        bench = Bench(cell, read.samples, examples["examples"], shards)
        if bench.waits:
            waiting.append(bench)
            return
        if cell.judges:
            await self.judges.ask([bench])
        await self._score(bench, done)

    async def _score(self, bench: Bench, done: dict[str, Cell]) -> None:
        """Score a cell, enter it into the manifest and keep what the summary needs of it."""
        cell, shards, read = bench.cell, bench.shards, self.read[bench.cell.dataset.abbr]
        tables = (read.samples, shards.outputs, shards.extracted, bench.judged, bench.rivals)
        scored = await self.do(ScoreStep(self.session, cell.label, cell.dataset, *tables))
        metrics = await asyncio.to_thread(self.session.store.read, scored["metrics"])
        await asyncio.to_thread(self._look, cell, shards, scored)
        protocol = work.protocol(cell)
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
                "examples": [bench.examples],
                "prompts": shards.prompts,
                "outputs": shards.outputs,
                "extracted": shards.extracted,
                "scores": [scored["scores"]],
                "metrics": [scored["metrics"]],
                **bench.tables(),
            },
        )
        self.manifest.cells[cell.cell] = entry
        expected = next((g.expected for g in self.session.spec.summarizer.summary_groups if g.name == entry.group), None)
        done[cell.cell] = Cell(
            entry.model, entry.dataset, metrics, entry.counts, entry.version or "", entry.mode, entry.group, expected
        )

    def _look(self, cell: Work, shards: Shards, scored: Outcome) -> None:
        """Keep what is odd about a finished cell."""
        outputs = (self.session.store.read(ref) for ref in shards.outputs)
        self.tally.alarms += cell_alarms(cell, scored.record.notes["counts"], outputs)
