"""The base of evaluators that execute programs: say what to run, the verdict is the rating."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from evaluators.base import Evaluator, Rating
from leaderflow.core.sandbox import Job, Limits, Outcome, run_many
from leaderflow.core.types import Row

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


class CodeEvaluator(Evaluator):
    """Share of answers whose program passes; 0–100, more is better. pass@k over repeats follows Chen et al. 2021.

    A subclass gives `job`; equal jobs of a block run once. No program at all is wrong without running anything. Blocks are large,
    so that processors are rarely idle at their ends.
    """

    metric: ClassVar[str] = "pass@1"
    needs_sandbox: frozenset[str] = frozenset({"python"})
    uses_references = False
    block: int | None = 4000
    limits: Limits = Limits(seconds=5.0)

    def job(self, prediction: Any, reference: Any, row: Row) -> Job | None:
        """Return what to run for one answer, None where it holds no program."""
        raise NotImplementedError

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return right or wrong for all answers.

        Raises:
            UsageError: programs cannot be run here.
        """
        jobs = [self.job(p, r, row) for p, r, row in zip(predictions, references, rows, strict=True)]
        outcomes = self.outcomes([job for job in jobs if job is not None])
        return [self.judged(None if job is None else outcomes[job]) for job in jobs]

    def outcomes(self, jobs: Sequence[Job]) -> dict[Job, Outcome]:
        """Run jobs, equal ones once."""
        distinct = list(dict.fromkeys(jobs))
        return dict(zip(distinct, run_many(distinct, self.limits), strict=True))

    def judged(self, outcome: Outcome | None) -> Rating:
        """Return the rating of an outcome."""
        passed = outcome is not None and outcome.passed
        return Rating({self.metric: float(passed)}, passed, detail_of(outcome))


def detail_of(outcome: Outcome | None) -> dict[str, str]:
    """Return what `show` prints of an outcome. Equal runs give equal text: addresses of objects are cut."""
    if outcome is None:
        return {"status": "failed", "message": "no program was found"}
    return {"status": outcome.status, "message": _ADDRESS.sub("0x…", outcome.message)}


def program_of(prediction: Any) -> str:
    """Return an answer as program text: a postprocessor may leave a list of turns, whose last one counts."""
    if isinstance(prediction, list):
        prediction = prediction[-1] if prediction else ""
    return prediction if isinstance(prediction, str) else str(prediction)
