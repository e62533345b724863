"""The postprocess and the score stage: plain functions from tables to tables. `docs/scoring.md` states every rule."""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from evaluators.base import Design, Evaluator
from evaluators.cell import TableCell, check_columns
from evaluators.extractions import Reference, extractions
from evaluators.pipeline import Pipeline
from leaderflow.core.artifacts import EXTRACTED, METRICS, RATED, SCORES, table_of
from leaderflow.core.errors import DataError
from leaderflow.core.registry import build
from leaderflow.core.streams import Rows, TableRows, as_rows, tuples
from leaderflow.core.types import Json, Row
from leaderflow.core.validate import EVALUATOR_OWN

if TYPE_CHECKING:
    from leaderflow.core.specs import DatasetSpec


def postprocess(outputs: pa.Table, samples: pa.Table, dataset: DatasetSpec, **more: Any) -> pa.Table:
    """Return the whole of what `extractions` yields, of tables in memory."""
    return pa.Table.from_batches(extractions(TableRows(outputs), TableRows(samples), dataset, **more), EXTRACTED)


def score(
    extracted: pa.Table | Rows,
    samples: pa.Table,
    outputs: pa.Table,
    dataset: DatasetSpec,
    answers: pa.Table | None = None,
    rivals: Mapping[str, Rows] | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return the whole of what `scores` gives, of tables in memory."""
    batches, metrics = scores(as_rows(extracted), TableRows(samples), dataset, answers, rivals)
    return pa.Table.from_batches(batches, SCORES), metrics


def scores(
    extracted: Rows,
    samples: Rows,
    dataset: DatasetSpec,
    answers: pa.Table | None = None,
    rivals: Mapping[str, Rows] | None = None,
) -> tuple[Iterator[pa.RecordBatch], pa.Table]:
    """Return the scores of a cell, batch by batch, and its metrics (SCORES, METRICS); rows with status ``error`` have no score.

    Args:
        extracted: the postprocess table.
        samples: the read table.
        dataset: whose eval_cfg applies.
        answers: the judge's answers, where the evaluator asked questions.
        rivals: the postprocess tables of the models that the evaluator compares with.

    Raises:
        DataError: tables that do not belong together, or a column the evaluator needs.
        SpecError: an evaluator that does not exist or does not take these arguments, or a k above the repeats.
    """
    evaluator = build_evaluator(dataset)
    rated, metrics = evaluator.score(cell_of(evaluator, extracted, samples, None, rivals), answers)
    numbers = [{"metric": m.name} | {name: getattr(m, name) for name in METRICS.names[1:]} for m in metrics]
    return _with_errors(extracted, rated), table_of(METRICS, [_finite(n) for n in numbers])


def cell_of(
    evaluator: Evaluator, extracted: Rows, samples: Rows, outputs: Rows | None, rivals: Mapping[str, Rows] | None
) -> TableCell:
    """Return a cell as its evaluator sees it."""
    design: Design = evaluator.design
    return TableCell(extracted, samples, design.cluster_column, (type(evaluator).__name__, evaluator.needs), outputs, rivals)


def counts(extracted: pa.Table | Rows, outputs: pa.Table | Rows) -> dict[str, int]:
    """Return n, n_scored, n_unparsed, n_truncated, n_filtered, n_rejected and n_failed of a cell.

    n = n_scored + n_failed. A truncated row is counted from `outputs` whatever was found in it; a row without extraction, or
    without a readable verdict of a judge, is unparsed whatever its status, those with status ``error`` apart. So one row may
    count as truncated and as unparsed.
    """
    statuses, unparsed = Counter[str](), 0
    for status, text in tuples(as_rows(extracted), ["status", "extracted"]):
        statuses[status] += 1
        unparsed += status == "unparsed" or (status != "error" and text is None)
    cut = [
        batch.filter(compute.equal(batch.column("status"), "truncated"))
        for batch in as_rows(outputs).batches(["sample_id", "repeat", "status"])
    ]
    truncated = pa.Table.from_batches(cut).group_by(["sample_id", "repeat"]).aggregate([]).num_rows if cut else 0
    n, failed = statuses.total(), statuses["error"]
    return {
        "n": n,
        "n_scored": n - failed,
        "n_unparsed": unparsed,
        "n_truncated": truncated,
        "n_filtered": statuses["filtered"],
        "n_rejected": statuses["rejected"],
        "n_failed": failed,
    }


def build_evaluator(dataset: DatasetSpec) -> Any:
    """Return the evaluator of a dataset, told its clusters and k.

    Raises:
        SpecError: an unknown evaluator or argument.
    """
    config = {name: value for name, value in dataset.eval_cfg.evaluator.items() if name not in EVALUATOR_OWN}
    evaluator = build("evaluator", config, key=f"{dataset.abbr}.eval_cfg.evaluator")
    evaluator.design = Design(dataset.reader_cfg.cluster_column, dataset.n, tuple(dataset.k))
    return evaluator


def check(dataset: DatasetSpec, samples: pa.Table) -> None:
    """See that the rows have what scoring needs, before any request is sent.

    Raises:
        DataError: no rows, a column that the evaluator, the clustering or the reference needs is absent, or a row that the
            evaluator cannot score.
        SpecError: a postprocessor or evaluator that does not exist or does not take its arguments.
    """
    evaluator = build_evaluator(dataset)
    name, column = dataset.eval_cfg.evaluator["type"], dataset.reader_cfg.output_column
    if not samples.num_rows:
        raise DataError(f"{dataset.abbr}: no sample to score")
    if column is None and getattr(evaluator, "uses_references", False):
        raise DataError(f"{dataset.abbr}: {name} compares with a reference, and reader_cfg names no output_column")
    needed = ({column, dataset.reader_cfg.cluster_column} - {None}) | evaluator.needs
    Pipeline(dataset, None, None)
    reference_of, shapes = Reference(dataset), set[frozenset[str]]()

    def rows() -> Iterator[tuple[Json, Row]]:
        for sample_id, text in tuples(TableRows(samples), ["sample_id", "row"]):
            row = json.loads(text)
            if (shape := frozenset(row)) not in shapes:
                check_columns(row, needed, f"{dataset.abbr} ({name})")
                shapes.add(shape)
            reference = reference_of(sample_id, row)
            yield None if reference is None else json.loads(reference), row

    found = rows()
    if look := getattr(evaluator, "check", None):
        try:
            look(found)
        except DataError as exc:
            raise DataError(f"{dataset.abbr}: {exc}") from exc
    deque(found, maxlen=0)


def _with_errors(extracted: Rows, rated: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put the rows that were never scored between those that were."""
    scored = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in RATED], schema=RATED)
    for batch in extracted.batches(["sample_id", "repeat", "status"]):
        asked = compute.not_equal(batch.column("status"), "error").to_numpy(zero_copy_only=False)
        wanted = int(asked.sum())
        parts = [scored]
        while sum(part.num_rows for part in parts) < wanted:
            if (more := next(rated, None)) is None:
                raise DataError("the evaluator did not score all rows that were asked")
            parts.append(more)
        together = pa.concat_batches(parts)
        places = pa.array(np.cumsum(asked) - 1, mask=~asked)
        own, scored = together.slice(0, wanted).take(places), together.slice(wanted)
        yield pa.RecordBatch.from_arrays([*batch.columns, *own.columns], schema=SCORES)
    if spare := scored.num_rows + sum(part.num_rows for part in rated):
        raise DataError(f"the evaluator scored {spare} rows that were never asked")


def _finite(metric: dict[str, Any]) -> dict[str, Any]:
    """NaN is no JSON: a number that does not exist is null."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in metric.items()}
