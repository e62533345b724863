"""read: the samples of a dataset, and the pool that examples come from."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from readers import stage
from tasks.session import Session
from tasks.step import Step


class ReadStep(Step):
    """Reads one dataset."""

    stage = "read"

    def __init__(self, session: Session, dataset: DatasetSpec, *, pool: bool) -> None:
        super().__init__(session, f"read {dataset.abbr}")
        self.dataset, self.pool = dataset, pool

    def config(self) -> Json:
        """Source, splits, ranges and preparation; neither paths nor what the columns are used for."""
        reader = self.dataset.reader_cfg.model_dump(mode="json", exclude={"input_columns", "output_column", "cluster_column"})
        own = self.dataset.model_dump(mode="json", include={"type", "name", "revision", "columns", "arguments", "compat"})
        return {**own, "reader_cfg": reader, "source": stage.fingerprint(self.dataset, self.session.source), "pool": self.pool}

    def parents(self) -> list[str]:
        """None: this is the first stage."""
        return []

    def compute(self) -> Mapping[str, pa.Table]:
        """Read the rows."""
        samples, pool = stage.read(self.dataset, self.session.source, pool=self.pool)
        return {"samples": samples, "pool": pool}
