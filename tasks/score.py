"""score: a cell's scores, sample by sample, and its metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from evaluators import stage
from leaderflow.core import identity, sandbox
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.store import ArtifactRef
from leaderflow.core.types import Json
from tasks.session import Session
from tasks.step import Step


class ScoreStep(Step):
    """Scores one cell, whatever the shards it came in."""

    stage = "score"

    def __init__(
        self,
        session: Session,
        label: str,
        dataset: DatasetSpec,
        samples: ArtifactRef,
        outputs: Sequence[ArtifactRef],
        extracted: Sequence[ArtifactRef],
    ) -> None:
        super().__init__(session, f"score {label}")
        self.dataset, self.samples, self.outputs, self.extracted = dataset, samples, outputs, extracted
        self._counts: dict[str, int] = {}

    def config(self) -> Json:
        """The evaluator, the repeats and what is clustered."""
        reader = self.dataset.reader_cfg.model_dump(mode="json", include={"input_columns", "output_column", "cluster_column"})
        return {"evaluator": self.dataset.eval_cfg.evaluator, "n": self.dataset.n, "k": self.dataset.k, "reader_cfg": reader}

    def parents(self) -> list[str]:
        """Samples, outputs and extractions of the whole cell."""
        return [
            self.samples.digest,
            identity.concat_digests(ref.digest for ref in self.outputs),
            identity.concat_digests(ref.digest for ref in self.extracted),
        ]

    def compute(self) -> Mapping[str, pa.Table]:
        """Score."""
        store = self.session.store
        extracted = pa.concat_tables([store.read(ref) for ref in self.extracted])
        outputs = pa.concat_tables([store.read(ref) for ref in self.outputs])
        with sandbox.unsafe_code(self.session.spec.allow_unsafe_code):
            scores, metrics = stage.score(extracted, store.read(self.samples), outputs, self.dataset)
        self._counts = stage.counts(extracted, outputs)
        return {"scores": scores, "metrics": metrics}

    def notes(self) -> dict[str, Json]:
        """The cell's denominators: a function of the parents, kept beside the tables."""
        return {"counts": self._counts}
