"""What the steps of a whole cell share: its samples, outputs and extractions, whatever the shards they came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderflow.core import identity
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.store import ArtifactRef
from leaderflow.core.streams import Rows
from leaderflow.core.types import Json
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
        rivals: Mapping[str, Sequence[ArtifactRef]] | None = None,
    ) -> None:
        super().__init__(session, f"{self.stage} {label}")
        self.dataset, self.samples, self.outputs, self.extracted = dataset, samples, outputs, extracted
        self.rivals = rivals or {}

    def parents(self) -> list[str]:
        """Samples, outputs and extractions of the whole cell, and the extractions of the models that it is compared with."""
        return [
            self.samples.digest,
            *(identity.concat_digests(r.digest for r in refs) for refs in (self.outputs, self.extracted, *self.rivals.values())),
        ]

    def rows(self) -> tuple[Rows, Rows, Rows]:
        """Return the extractions, the samples and the outputs of the whole cell."""
        rows = self.session.store.rows
        return rows(self.extracted), rows([self.samples]), rows(self.outputs)

    def rival_rows(self) -> dict[str, Rows]:
        """Return the extractions of the models that the cell is compared with."""
        return {model: self.session.store.rows(refs) for model, refs in self.rivals.items()}

    def rival_names(self) -> dict[str, Json]:
        """Return what of the configuration names them."""
        return {"rivals": list(self.rivals)} if self.rivals else {}

    def columns(self) -> dict[str, object]:
        """Return what of the reader_cfg scoring depends on."""
        return self.dataset.reader_cfg.model_dump(mode="json", include={"input_columns", "output_column", "cluster_column"})
