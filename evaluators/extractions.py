"""What answers say, block by block: the infer table through the postprocessors of a cell, and the references beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from evaluators.choice import choose
from evaluators.pipeline import UNANSWERED, Pipeline, json_text, jsonable
from leaderflow.core.artifacts import EXTRACTED, table_of
from leaderflow.core.errors import DataError, did_you_mean
from leaderflow.core.registry import bind
from leaderflow.core.streams import PIECE, Finder, Rows, tuples
from leaderflow.core.types import Extraction, Row

if TYPE_CHECKING:
    import pyarrow as pa

    from leaderflow.core.specs import DatasetSpec, Typed

_SAID = ("sample_id", "repeat", "status", "label", "part", "output", "turns", "nll", "scored_tokens")
"""What postprocessing reads of the infer table."""


def extractions(
    outputs: Rows,
    samples: Rows,
    dataset: DatasetSpec,
    *,
    model_postprocessor: Typed | None = None,
    choice: str | None = None,
    role_markers: tuple[str, str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield what each sample × repeat answered (EXTRACTED), in the order of `outputs`.

    A generated answer goes through the role cut, the model's, the dataset's and the evaluator's own postprocessor, in this order.
    Rows with labels give the label that `choice` picks; rows of a likelihood without labels give the mean loss a token.

    Args:
        outputs: the infer table; a sample's labels stand one after the other.
        samples: the read table.
        dataset: whose eval_cfg applies.
        model_postprocessor: the model's pred_postprocessor.
        choice: how to pick among labels (`evaluators.choice`); None for generation.
        role_markers: begin and end of the role that pred_role names; only the text between them is kept.

    Raises:
        DataError: an answer of no sample, or a missing output column.
        SpecError: a postprocessor that does not exist.
    """
    clean = Pipeline(dataset, model_postprocessor, role_markers)
    reference_of = Reference(dataset)
    rows = Finder(samples, ["sample_id", "row"], lambda sample_id, row: sample_id)
    for block in _blocks(outputs):
        found = rows.find({line["sample_id"] for line in block})
        references: dict[str, str | None] = {}
        lines = []
        for (sample_id, repeat), group in _grouped(block):
            if sample_id not in found:
                raise DataError(f"the answer of sample {sample_id!r} belongs to no sample of {dataset.abbr}: read and infer differ")
            if sample_id not in references:
                references[sample_id] = reference_of(sample_id, json.loads(found[sample_id][1][1]))
            line = _labelled(group, choice) if choice and group[0]["label"] is not None else clean.line(group[0])
            lines.append({"sample_id": sample_id, "repeat": repeat, "reference": references[sample_id], **line})
        yield from table_of(EXTRACTED, lines).to_batches()


def _blocks(outputs: Rows) -> Iterator[list[dict[str, Any]]]:
    """The lines of the infer table in blocks; the last sample of a block is whole."""
    block: list[dict[str, Any]] = []
    for values in tuples(outputs, _SAID):
        line = dict(zip(_SAID, values, strict=True))
        if len(block) >= PIECE and line["sample_id"] != block[-1]["sample_id"]:
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _labelled(group: Sequence[Mapping[str, Any]], choice: str) -> dict[str, Any]:
    statuses = {line["status"] for line in group}
    for status in UNANSWERED:
        if status in statuses:
            return {"status": status}
    if unscored := next((line["label"] for line in group if line["nll"] is None), None):
        raise DataError(f"sample {group[0]['sample_id']!r} has no likelihood for label {unscored!r}")
    return {"status": "ok", "extracted": json_text(choose(group, choice)), "extractor": choice}


def _grouped(lines: Iterable[dict[str, Any]]) -> Iterable[tuple[tuple[str, int], list[dict[str, Any]]]]:
    """The rows of each sample × repeat, in the order in which these first come."""
    numbered = list(lines)
    first: dict[tuple[str, int], int] = {}
    for line in numbered:
        first.setdefault((line["sample_id"], line["repeat"]), len(first))
    numbered.sort(key=lambda line: first[line["sample_id"], line["repeat"]])
    return ((key, list(part)) for key, part in groupby(numbered, key=lambda line: (line["sample_id"], line["repeat"])))


class Reference:
    """What a sample's answer is compared with: its output column after the dataset's postprocessor, as JSON text."""

    def __init__(self, dataset: DatasetSpec) -> None:
        config = dataset.eval_cfg.dataset_postprocessor or dataset.eval_cfg.evaluator.get("dataset_postprocessor")
        self.abbr, self.column = dataset.abbr, dataset.reader_cfg.output_column
        self.clean: Callable[[Any], Any] = bind("postprocessor", config) if config and self.column else lambda value: value

    def __call__(self, sample_id: str, row: Row) -> str | None:
        """Return the reference of a sample; None without an output column.

        Raises:
            DataError: the row lacks the column.
        """
        if self.column is None:
            return None
        if self.column not in row:
            hint = did_you_mean(self.column, row)
            raise DataError(f"{self.abbr}: no output column {self.column!r} in sample {sample_id!r}{hint}")
        value = self.clean(row[self.column])
        return json_text(jsonable(value.value if isinstance(value, Extraction) else value))
