"""What a run has done so far: task runs, requests, tokens, seconds, failures. Fed from several threads."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict

import pyarrow as pa

from flows.progress import Progress
from flows.work import Work
from leaderflow.core.manifest import CellError
from leaderflow.core.store import ArtifactRef
from leaderflow.core.types import Answer
from tasks.step import Outcome, Step


class Tally:
    """Counts of one run, told on to a Progress."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.tasks: Counter[str] = Counter(cached=0, computed=0, failed=0)
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.stages: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.alarms: list[str] = []
        """What makes cells' numbers doubtful."""
        self._lock = threading.Lock()
        self._sent: Counter[str] = Counter()
        self._total: Counter[str] = Counter()
        self._finished: Counter[str] = Counter()
        self._unasked: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._failures: dict[tuple[str, str], str] = {}
        self._failed: Counter[tuple[str, str]] = Counter()

    def step(self, step: Step, outcome: Outcome) -> None:
        """Count a finished step."""
        kind = "failed" if outcome.unanswered else "cached" if outcome.cached else "computed"
        with self._lock:
            self.tasks[kind] += 1
            self.stages[step.stage][kind] += 1
            self.seconds[step.stage] += outcome.seconds

    def lines(self) -> list[str]:
        """Return one line a stage for the log: ``infer: 11 computed, 1 failed in 74.2 s``."""
        with self._lock:
            counted = {stage: ", ".join(f"{n} {kind}" for kind, n in counts.items()) for stage, counts in self.stages.items()}
            return [f"{stage}: {text} in {self.seconds[stage]:.1f} s" for stage, text in counted.items()]

    def heard(self, cell: str, answer: Answer) -> None:
        """Count an answer that has just come from the model."""
        with self._lock:
            self._sent[cell] += 1
            self._tokens["prompt_tokens"] += answer.prompt_tokens or 0
            self._tokens["output_tokens"] += answer.output_tokens or 0
            if answer.reasoning_tokens is not None:
                self._tokens["reasoning_tokens"] += answer.reasoning_tokens
        self.progress.answered(cell, answer)

    def prompts(self, cell: Work, prompts: ArtifactRef) -> None:
        """A shard was rendered: its cell has so many more requests."""
        with self._lock:
            self._total[cell.cell] += prompts.rows * cell.inferencer.repeats
        self._tell(cell.cell)

    def outputs(self, cell: Work, outputs: ArtifactRef) -> None:
        """A shard was answered."""
        with self._lock:
            self._finished[cell.cell] += outputs.rows
        self._tell(cell.cell)

    def unanswered(self, cell: Work, outputs: pa.Table) -> None:
        """Keep why rows have no answer: how many of each class, and one message. A judge's count for the cell that it judges."""
        rows = outputs.select(["status", "error", "error_class", "attempts"]).to_pylist()
        with self._lock:
            for row in rows:
                if row["status"] == "error":
                    failure = (cell.judged or cell.cell, row["error_class"] or "unknown")
                    judge = f"judge {cell.model.abbr}: " if cell.judged else ""
                    self._failures.setdefault(failure, judge + (row["error"] or "no answer"))
                    self._failed[failure] += 1
                    self._unasked[cell.cell] += not row["attempts"]

    def errors(self) -> list[CellError]:
        """Return what stayed unanswered, by cell and class."""
        with self._lock:
            found = [(cell, kind, self._failed[cell, kind], message) for (cell, kind), message in self._failures.items()]
        return [CellError.model_validate({"cell": c, "class": k, "rows": n, "message": m}) for c, k, n, m in found]

    def requests(self) -> dict[str, int]:
        """Return requests sent and reused, and the tokens of those sent; those of reasoning where some are known."""
        with self._lock:
            sent = sum(self._sent.values())
            reused = sum(self._reused(cell) for cell in self._finished)
            tokens = {"prompt_tokens": 0, "output_tokens": 0, **self._tokens}
        return {"sent": sent, "reused": reused, **tokens}

    def _reused(self, cell: str) -> int:
        return max(0, self._finished[cell] - self._sent[cell] - self._unasked[cell])

    def _tell(self, cell: str) -> None:
        with self._lock:
            total, reused = self._total[cell], self._reused(cell)
        self.progress.cell(cell, total, reused)
