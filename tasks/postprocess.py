"""postprocess: what each output says, and the cleaned reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from evaluators.extractions import extractions
from leaderflow.core import identity
from leaderflow.core.artifacts import EXTRACTED
from leaderflow.core.specs import DatasetSpec, ModelSpec
from leaderflow.core.store import ArtifactRef, Tabular
from leaderflow.core.streams import Rows, TableRows
from leaderflow.core.types import Json
from tasks.session import Session
from tasks.step import Step
from templating.stage import role_markers


class PostprocessStep(Step):
    """Extracts the answers of one shard."""

    stage = "postprocess"

    def __init__(
        self,
        session: Session,
        label: str,
        dataset: DatasetSpec,
        model: ModelSpec,
        choice: str | None,
        outputs: ArtifactRef,
        samples: pa.Table,
    ) -> None:
        super().__init__(session, f"postprocess {label}")
        self.dataset, self.model, self.choice, self.outputs, self.samples = dataset, model, choice, outputs, samples

    def config(self) -> Json:
        """The postprocessors, the role's markers and the rule that picks a label."""
        own = self.dataset.eval_cfg.model_dump(mode="json", exclude={"evaluator"})
        evaluator = self.dataset.eval_cfg.evaluator
        return {
            "eval_cfg": own,
            "evaluator": [evaluator.get(name) for name in ("pred_postprocessor", "dataset_postprocessor")],
            "model": self.model.pred_postprocessor,
            "markers": markers_of(self.dataset, self.model),
            "choice": self.choice,
            "output_column": self.dataset.reader_cfg.output_column,
        }

    def parents(self) -> list[str]:
        """The outputs and their samples."""
        return [self.outputs.digest, identity.table_digest(self.samples)]

    def compute(self) -> Mapping[str, Tabular]:
        """Extract."""
        outputs = self.session.store.rows([self.outputs])
        return {"extracted": read_answers(self.dataset, self.model, self.choice, outputs, TableRows(self.samples))}


def read_answers(
    dataset: DatasetSpec, model: ModelSpec, choice: str | None, outputs: Rows, samples: Rows
) -> Iterator[pa.RecordBatch]:
    """Yield the EXTRACTED table of some outputs."""
    return extractions(
        outputs,
        samples,
        dataset,
        model_postprocessor=model.pred_postprocessor,
        choice=choice,
        role_markers=markers_of(dataset, model),
    )


def extract(dataset: DatasetSpec, model: ModelSpec, choice: str | None, outputs: pa.Table, samples: pa.Table) -> pa.Table:
    """Return the EXTRACTED table of some outputs in memory."""
    return pa.Table.from_batches(read_answers(dataset, model, choice, TableRows(outputs), TableRows(samples)), EXTRACTED)


def markers_of(dataset: DatasetSpec, model: ModelSpec) -> tuple[str, str] | None:
    """Return begin and end of the role that pred_role names."""
    role = dataset.eval_cfg.pred_role
    return role_markers(model.meta_template, role) if role else None
