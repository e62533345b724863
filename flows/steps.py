"""How the steps of one run are done: each by itself or with others of its bundle, hits without a task run, all of them counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from flows.bundle import current
from flows.submit import Submit
from flows.tally import Tally
from tasks.infer import InferStep
from tasks.step import Batch, Outcome, Step, peek

SHARDS_IN_FLIGHT = 6
"""Infer steps of one model at a time: enough that its window stays full across shard borders."""

SHARDS_A_WORKER = 2
"""The same for each of a cluster's workers."""

COMPUTING = 10
"""Steps of the other stages at a time, which keep this machine busy."""


class Steps:
    """Does the steps of one run.

    `quiet` is set in a large run: a stored result is then taken without a task run.
    """

    def __init__(self, submit: Submit, tally: Tally) -> None:
        self._submit, self._tally = submit, tally
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._computing = asyncio.Semaphore(COMPUTING)
        self.quiet = False

    async def do(self, step: Step) -> Outcome:
        """Do a step, in step with the others of the current bundle if there is one."""
        if bundle := current():
            return await bundle.do(step)
        return (await self.do_all([step], step.label))[0]

    async def do_all(self, steps: Sequence[Step], label: str) -> list[Outcome]:
        """Do steps of one stage in one task run."""
        async with self._slot(steps[0]):
            found = [await asyncio.to_thread(peek, step) if self.quiet else None for step in steps]
            left = [step for step, outcome in zip(steps, found, strict=True) if outcome is None]
            computed = iter(await self._submit(Batch(label, left)) if left else [])
        outcomes = [outcome or next(computed) for outcome in found]
        for step, outcome in zip(steps, outcomes, strict=True):
            self._tally.step(step, outcome)
        return outcomes

    def _slot(self, step: Step) -> asyncio.Semaphore:
        if not isinstance(step, InferStep):
            return self._computing
        cluster, model = step.session.cluster, step.model
        shards = max(SHARDS_IN_FLIGHT, SHARDS_A_WORKER * cluster.size(model)) if cluster else SHARDS_IN_FLIGHT
        return self._slots.setdefault(model.abbr, asyncio.Semaphore(shards))
