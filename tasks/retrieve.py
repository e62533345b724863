"""retrieve: the in-context examples of every sample."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from leaderflow.core import identity
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from tasks.session import Session
from tasks.step import Step
from templating import stage


class RetrieveStep(Step):
    """Chooses the examples of one dataset's samples."""

    stage = "retrieve"

    def __init__(self, session: Session, dataset: DatasetSpec, samples: pa.Table, pool: pa.Table) -> None:
        super().__init__(session, f"retrieve {dataset.abbr}")
        self.dataset, self.samples, self.pool = dataset, samples, pool

    def config(self) -> Json:
        """The retriever and the columns it compares."""
        reader = self.dataset.reader_cfg
        columns = {"input": reader.input_columns, "output": reader.output_column, "template": reader.input_template}
        return {"retriever": self.dataset.infer_cfg.retriever, "columns": columns, "compat": self.dataset.compat}

    def parents(self) -> list[str]:
        """The samples and the pool."""
        return [identity.table_digest(self.samples), identity.table_digest(self.pool)]

    def compute(self) -> Mapping[str, pa.Table]:
        """Choose."""
        return {"examples": stage.retrieve(self.samples, self.pool, self.dataset)}
