"""The three kinds of work an engine does with a loaded model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from inference.huggingface.batching import by_budget, by_prefix
from inference.huggingface.engine import Batch, Job
from inference.huggingface.generation import Text, generate
from inference.huggingface.likelihood import can_share, plain, shared
from inference.huggingface.tokens import Tokens


@dataclass(slots=True)
class Limits:
    """How large a batch may be: rows, and padded tokens."""

    rows: int
    budget: int

    def shrink(self, cells: int) -> None:
        """Stay within half of a size that did not fit."""
        self.budget = max(1, min(self.budget, cells) // 2)


class Generate:
    """Continue prompts; a row's size is its prompt and all it may generate."""

    def __init__(self, model: Any, tokens: Tokens, eos: Sequence[int], limits: Limits) -> None:
        self._model, self._tokens, self._eos, self._limits = model, tokens, eos, limits

    def plan(self, jobs: Sequence[Job]) -> list[list[list[Job]]]:
        """Sort by length and cut by budget."""
        batches = by_budget(jobs, cells=_generation_cells, max_rows=self._limits.rows, budget=self._limits.budget)
        return [[[job] for job in batch] for batch in batches]

    def run(self, batch: Batch) -> list[Text]:
        """Generate."""
        return generate(self._model, self._tokens, [row for group in batch for row in group], self._eos)

    def shrink(self, batch: Sequence[Sequence[Job]]) -> None:
        """Halve the budget."""
        self._limits.shrink(_cells(batch, _generation_cells))


class Likelihood:
    """Score rows; those with a common prefix share it where the model's cache allows."""

    def __init__(self, model: Any, pad: int, limits: Limits, *, share: bool) -> None:
        self._model, self._pad, self._limits, self._share = model, pad, limits, share and can_share(model)

    def plan(self, jobs: Sequence[Job]) -> list[list[list[Job]]]:
        """Group by prefix; groups of several rows and single rows go into batches of their own."""
        if not self._share:
            return self._cut([[job] for job in jobs])
        groups = by_prefix(jobs, ids=lambda job: job.row.ids, budget=self._limits.budget)
        return self._cut([g for g in groups if len(g) > 1]) + self._cut([g for g in groups if len(g) == 1])

    def run(self, batch: Batch) -> list[list[float]]:
        """Score."""
        if all(len(group) == 1 for group in batch):
            return plain(self._model, [group[0] for group in batch], self._pad)
        return [line for group in shared(self._model, batch, self._pad) for line in group]

    def shrink(self, batch: Sequence[Sequence[Job]]) -> None:
        """Halve the budget."""
        self._limits.shrink(_cells(batch, _length))

    def _cut(self, groups: list[list[Job]]) -> list[list[list[Job]]]:
        def cells(group: list[Job]) -> int:
            return len(group) * max(_length(job) for job in group)

        return list(by_budget(groups, cells=cells, max_rows=self._limits.rows, budget=self._limits.budget))


class Embed:
    """Embed texts: the mean of the last hidden states over a text's tokens, scaled to length 1.

    This is the pooling that sentence encoders are trained with (Reimers and Gurevych, 2019).
    """

    def __init__(self, body: Any, pad: int, limits: Limits) -> None:
        self._body, self._pad, self._limits = body, pad, limits

    def plan(self, jobs: Sequence[Job]) -> list[list[list[Job]]]:
        """Sort by length and cut by budget."""
        batches = by_budget(jobs, cells=lambda job: len(job.row), max_rows=4 * self._limits.rows, budget=self._limits.budget)
        return [[[job] for job in batch] for batch in batches]

    def run(self, batch: Batch) -> list[Any]:
        """Return a float32 vector for each row."""
        import torch

        rows = [row for group in batch for row in group]
        longest = max(len(row) for row in rows)
        ids = torch.tensor([list(row) + [self._pad] * (longest - len(row)) for row in rows], device=self._body.device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self._body.device)
        with torch.inference_mode():
            hidden = self._body(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            return list(torch.nn.functional.normalize(mean, dim=-1).cpu().numpy())

    def shrink(self, batch: Sequence[Sequence[Job]]) -> None:
        """Halve the budget."""
        self._limits.shrink(_cells(batch, lambda job: len(job.row)))


def _generation_cells(job: Job) -> int:
    return len(job.row.ids) + int(job.row.limit)


def _length(job: Job) -> int:
    return len(job.row.ids)


def _cells(batch: Sequence[Sequence[Job]], size: Callable[[Job], int]) -> int:
    jobs = [job for group in batch for job in group]
    return len(jobs) * max(size(job) for job in jobs)
