"""What a comparison of two runs says: a verdict for each cell, its numbers, and the samples that changed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from leaderflow.core.types import Json

Verdict = Literal["better", "worse", "no difference shown", "not comparable"]


class Flip(BaseModel):
    """One sample that changed. Texts are the model's: untrusted."""

    model_config = ConfigDict(extra="forbid")

    sample_id: str
    change: str
    row: Json
    reference: Json
    left: list[str]
    right: list[str]
    left_extracted: list[Json]
    right_extracted: list[Json]


class CellComparison(BaseModel):
    """One dataset, baseline (`left`) against candidate (`right`); values in the metric's unit, over the `n` common samples."""

    model_config = ConfigDict(extra="forbid")

    left: str
    """Cell of the baseline, ``MODEL:DATASET``."""
    right: str
    dataset: str
    verdict: Verdict = "not comparable"
    why: str | None = None
    """Why it is not comparable, or what limits the comparison."""
    metric: str | None = None
    scale: float | None = None
    higher_is_better: bool = True
    n_left: int = 0
    n_right: int = 0
    n: int = 0
    left_value: float | None = None
    right_value: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    test: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    """After Holm's correction over the datasets of this pair of models."""
    smallest: float | None = None
    """The smallest true difference that so many samples show four times in five."""
    changes: dict[str, int] = Field(default_factory=dict)
    flips: list[Flip] = Field(default_factory=list)
    differences: list[str] = Field(default_factory=list)
    """What is not the same in the two specs."""

    def regressed(self, threshold: float) -> bool:
        """Say whether it is significantly worse by more than `threshold`, in the metric's unit."""
        return self.verdict == "worse" and abs(self.difference or 0.0) > threshold


class Comparison(BaseModel):
    """One run against another."""

    model_config = ConfigDict(extra="forbid")

    left: str
    right: str
    cells: list[CellComparison]
