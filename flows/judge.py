"""The judges of finished cells: their questions go through the same steps as any cell's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from evaluators.judges import stage
from flows.shards import Do, Shards, ShardWalker
from flows.work import Work
from leaderflow.core.artifacts import EXAMPLES, SAMPLES, table_of
from leaderflow.core.specs import DatasetSpec, cell_name
from leaderflow.core.store import ArtifactRef
from tasks.judge import Judged, QuestionStep
from tasks.session import Session
from templating import stage as templating
from templating.stage import Target


@dataclass
class Bench:
    """What is known of one cell while its judges are asked."""

    cell: Work
    samples: ArtifactRef
    examples: ArtifactRef
    shards: Shards
    rivals: dict[str, list[ArtifactRef]] = field(default_factory=dict)
    """The extractions of the models that the cell is compared with."""
    questions: ArtifactRef | None = None
    replies: dict[str, Shards] = field(default_factory=dict)

    @property
    def judged(self) -> Judged | None:
        """What the score step takes; None without judges."""
        if self.questions is None:
            return None
        order = [judge.model.abbr for judge in self.cell.judges]
        return Judged(self.questions, {judge: self.replies[judge].extracted for judge in order})

    @property
    def waits(self) -> bool:
        """Whether the models must be done first: a judge is loaded here, or answers of several models are compared."""
        return bool(self.cell.arena) or any(judge.local for judge in self.cell.judges)

    def tables(self) -> dict[str, list[ArtifactRef]]:
        """Return the judges' tables for the manifest, judge by judge, shard by shard."""
        if self.questions is None:
            return {}
        found: dict[str, list[ArtifactRef]] = {"judge_questions": [self.questions]}
        for name in ("prompts", "outputs", "extracted"):
            found[f"judge_{name}"] = [ref for judge in self.cell.judges for ref in getattr(self.replies[judge.model.abbr], name)]
        return found


class Judges:
    """Asks the judges of one run."""

    def __init__(self, session: Session, do: Do, walker: ShardWalker) -> None:
        self.session, self.do, self.walker = session, do, walker

    async def ask(self, benches: Sequence[Bench]) -> None:
        """Ask about some cells, those that are compared with each other together.

        Judges behind an API are asked all side by side, local weights one after the other.
        """
        of_cell = {bench.cell.cell: bench for bench in benches}
        for bench in benches:
            names = {model: cell_name(model, bench.cell.dataset.abbr) for model in bench.cell.rivals}
            bench.rivals = {model: of_cell[name].shards.extracted for model, name in names.items()}
        async with asyncio.TaskGroup() as group:
            for bench in benches:
                group.create_task(self._remote(bench))
        local = {judge.model.abbr: judge.model for bench in benches for judge in bench.cell.judges if judge.local}
        for abbr, model in local.items():
            async with asyncio.TaskGroup() as group:
                for bench in benches:
                    for judge in bench.cell.judges:
                        if judge.model.abbr == abbr:
                            group.create_task(self._judge(bench, judge))
            await asyncio.to_thread(self.session.release, model)

    async def _remote(self, bench: Bench) -> None:
        cell, shards = bench.cell, bench.shards
        step = QuestionStep(self.session, cell.label, cell.dataset, bench.samples, shards.outputs, shards.extracted, bench.rivals)
        bench.questions = (await self.do(step))["questions"]
        async with asyncio.TaskGroup() as group:
            for judge in bench.cell.judges:
                if not judge.local:
                    group.create_task(self._judge(bench, judge))

    async def _judge(self, bench: Bench, judge: Work) -> None:
        assert bench.questions is not None
        rows = stage.as_samples(await asyncio.to_thread(self.session.store.read, bench.questions))
        bench.replies[judge.model.abbr] = await self.walker.walk(judge, rows, table_of(SAMPLES, []), no_examples(rows))


def no_examples(samples: pa.Table) -> pa.Table:
    """Return the EXAMPLES of questions: none."""
    return table_of(EXAMPLES, [{"sample_id": i, "example_ids": []} for i in samples.column("sample_id").to_pylist()])


def try_judges(cell: Work, samples: pa.Table) -> int:
    """Make every question with a placeholder for the answer and render the first: wrong rows are refused before any request.

    Returns:
        How many questions there can be to all judges together.
    """
    if not cell.judges:
        return 0
    rows = stage.as_samples(stage.pretended(samples, cell.dataset, cell.rivals))
    for judge in cell.judges if rows.num_rows else ():
        render_questions(judge.dataset, judge.target, rows.slice(0, 1))
    questions: int = rows.num_rows
    return len(cell.judges) * questions * cell.dataset.n


def render_questions(dataset: DatasetSpec, target: Target, rows: pa.Table) -> pa.Table:
    """Return the PROMPTS of some questions."""
    return templating.render(rows, table_of(SAMPLES, []), no_examples(rows), dataset, target)
