"""summarize: the run's leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from leaderflow.core import identity
from leaderflow.core.types import Json
from reports import stage
from reports.stage import Cell
from tasks.session import Session
from tasks.step import Step


class SummarizeStep(Step):
    """Puts the cells' metrics and the groups into one table."""

    stage = "summarize"

    def __init__(self, session: Session, cells: Sequence[Cell]) -> None:
        super().__init__(session, "summarize")
        self.cells = cells

    def config(self) -> Json:
        """The summarizer, and what each cell is and counts."""
        summarizer = self.session.spec.summarizer.model_dump(mode="json")
        return {"summarizer": summarizer, "cells": [cell.identity() for cell in self.cells]}

    def parents(self) -> list[str]:
        """The cells' metrics."""
        return [identity.table_digest(cell.metrics) for cell in self.cells]

    def compute(self) -> Mapping[str, pa.Table]:
        """Summarise."""
        return {"summary": stage.summarize(self.cells, self.session.spec.summarizer)}
