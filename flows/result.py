"""What a run gives back: the object that ``leaderflow run --json`` prints."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from leaderflow.core.manifest import CellError
from leaderflow.core.text import dollars

EXIT_CODES = {"completed": 0, "incomplete": 3, "failed": 1, "planned": 0}


class CellResult(BaseModel):
    """One row of the leaderboard: a cell's metric, or a group's."""

    model_config = ConfigDict(extra="forbid")

    model: str
    dataset: str
    metric: str
    value: float | None
    scale: float | None
    stderr: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None
    n_scored: int | None = None
    n_unparsed: int | None = None
    n_truncated: int | None = None
    n_filtered: int | None = None
    n_rejected: int | None = None
    n_failed: int | None = None
    version: str | None = None
    mode: str | None = None
    group: bool = False
    partial: bool = False
    note: str | None = None


class RunResult(BaseModel):
    """The outcome of one evaluation."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    run: str
    state: Literal["completed", "incomplete", "failed"]
    message: str = ""
    cells: list[CellResult] = Field(default_factory=list)
    tasks: dict[str, int] = Field(default_factory=dict)
    requests: dict[str, int] = Field(default_factory=dict)
    seconds: dict[str, float] = Field(default_factory=dict)
    errors: list[CellError] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    cost: float | None = None
    """Dollars spent by this run, where prices are known."""
    manifest: str | None = None
    ui: str | None = None
    """Address of the run's page in the Prefect UI."""

    @property
    def exit_code(self) -> int:
        """0 completed, 3 incomplete, 1 failed."""
        return EXIT_CODES[self.state]

    def as_json(self) -> dict[str, Any]:
        """Return the one object that ``--json`` prints."""
        return self.model_dump(mode="json", by_alias=True)


class PlannedCell(BaseModel):
    """What a run would do for one cell."""

    model_config = ConfigDict(extra="forbid")

    model: str
    dataset: str
    samples: int
    shards: int
    requests: int
    answered: int
    rejected: int
    judge_requests: int | None = 0
    """Requests to judges; None until the model's answers are all there."""
    judge_answered: int | None = 0
    judge_at_most: int = 0
    """Requests to judges if every answer is asked about."""
    prompt_tokens: int = 0
    """Of the model's requests to ask: about so many."""
    output_tokens: int = 0
    """At most so many."""
    judge_prompt_tokens: int = 0
    """Of the judges' requests to ask; while answers are missing as if every one were asked about and as long as it may be."""
    judge_output_tokens: int = 0
    """At most so many."""
    cost: float | None = None
    """At most so many dollars, judges included, where the prices are known."""


class Plan(BaseModel):
    """What ``--dry-run`` tells: cells, shards, requests, and how many of them are already answered.

    Requests to judges count as far as they are known; `judges_open` counts those that may come once the answers are there.
    """

    model_config = ConfigDict(extra="forbid")

    cells: list[PlannedCell]
    shards: int
    requests: int
    answered: int
    to_ask: int
    judges_open: int = 0
    prices_as_of: str | None = None
    """The day of the oldest price that the costs are made of."""
    exit_code: int = Field(default=0, exclude=True)

    def estimate(self) -> str:
        """Say in one sentence what the requests to ask may take."""
        prompt, output, judge_prompt, judge_output = (
            sum(getattr(cell, f"{whose}{what}_tokens") for cell in self.cells)
            for whose in ("", "judge_")
            for what in ("prompt", "output")
        )
        if not self.judges_open:
            prompt, output = prompt + judge_prompt, output + judge_output
        said = f"estimate: {self.to_ask:,} requests, about {prompt:,} prompt tokens, at most {output:,} output tokens"
        if self.judges_open:
            said += f", and up to {self.judges_open:,} requests to judges on top"
            said += f", at most {judge_prompt:,} prompt tokens and {judge_output:,} output tokens"
        costs = [cell.cost for cell in self.cells]
        if None in costs or not any(costs):
            return said
        return f"{said}, at most {dollars(sum(cost or 0.0 for cost in costs))} (prices of {self.prices_as_of})"

    def as_json(self) -> dict[str, Any]:
        """Return the one object that ``--json`` prints."""
        return self.model_dump(mode="json")
