"""score: a cell's scores, sample by sample, and its metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from evaluators import stage
from evaluators.judges import stage as judges
from leaderflow.core import identity, sandbox
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.store import ArtifactRef, Tabular
from leaderflow.core.streams import Rows
from leaderflow.core.types import Json
from tasks.cell import CellStep
from tasks.judge import Judged
from tasks.session import Session


class ScoreStep(CellStep):
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
        judged: Judged | None = None,
        rivals: Mapping[str, Sequence[ArtifactRef]] | None = None,
    ) -> None:
        super().__init__(session, label, dataset, samples, outputs, extracted, rivals)
        self.judged = judged
        self._counts: dict[str, int] = {}

    def config(self) -> Json:
        """The evaluator, the repeats and what is clustered."""
        evaluator = judges.without_judges(self.dataset.eval_cfg.evaluator)
        own = {"evaluator": evaluator, "n": self.dataset.n, "k": self.dataset.k, "reader_cfg": self.columns()}
        return own | ({"judges": list(self.judged.extracted)} if self.judged else {}) | self.rival_names()

    def parents(self) -> list[str]:
        """Samples, outputs and extractions of the whole cell, and what judges were asked and said."""
        judged = self.judged
        return [
            *super().parents(),
            *([judged.questions.digest] if judged else []),
            *([identity.concat_digests(r.digest for r in refs) for refs in judged.extracted.values()] if judged else []),
        ]

    def compute(self) -> Mapping[str, Tabular]:
        """Score: all rows are rated and the metrics known before the first score is written."""
        extracted, samples, outputs = self.rows()
        answers, rivals = None, self.rival_rows()
        if self.judged:
            answers, extracted = self._verdicts(self.judged, extracted, rivals)
        with sandbox.unsafe_code(self.session.spec.allow_unsafe_code):
            scores, metrics = stage.scores(extracted, samples, self.dataset, answers, rivals)
        self._counts = stage.counts(extracted, outputs)
        return {"scores": scores, "metrics": metrics}

    def _verdicts(self, judged: Judged, extracted: Rows, rivals: Mapping[str, Rows]) -> tuple[pa.Table, Rows]:
        """Return the verdicts, and the extractions with what became of the questions about them."""
        read = self.session.store.read
        replies = ((judge, read(ref)) for judge, refs in judged.extracted.items() for ref in refs)
        verdicts = judges.verdicts(read(judged.questions), replies)
        judging = stage.build_evaluator(self.dataset).judging
        return verdicts, judges.settled(extracted, verdicts, judging.minimum, rivals)

    def notes(self) -> dict[str, Json]:
        """The cell's denominators: a function of the parents, kept beside the tables."""
        return {"counts": self._counts}
