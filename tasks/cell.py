"""What the steps of a whole cell share: its samples, outputs and extractions, whatever the shards they came in."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from leaderflow.core import identity
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.store import ArtifactRef
from tasks.session import Session
from tasks.step import Step


class CellStep(Step):
    """A step that looks at one whole cell."""

    def __init__(
        self,
        session: Session,
        label: str,
        dataset: DatasetSpec,
        samples: ArtifactRef,
        outputs: Sequence[ArtifactRef],
        extracted: Sequence[ArtifactRef],
    ) -> None:
        super().__init__(session, f"{self.stage} {label}")
        self.dataset, self.samples, self.outputs, self.extracted = dataset, samples, outputs, extracted

    def parents(self) -> list[str]:
        """Samples, outputs and extractions of the whole cell."""
        return [
            self.samples.digest,
            identity.concat_digests(ref.digest for ref in self.outputs),
            identity.concat_digests(ref.digest for ref in self.extracted),
        ]

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Return the extractions, the samples and the outputs of the whole cell."""
        read = self.session.store.read
        extracted, outputs = (pa.concat_tables([read(ref) for ref in refs]) for refs in (self.extracted, self.outputs))
        return extracted, read(self.samples), outputs

    def columns(self) -> dict[str, object]:
        """Return what of the reader_cfg scoring depends on."""
        return self.dataset.reader_cfg.model_dump(mode="json", include={"input_columns", "output_column", "cluster_column"})
