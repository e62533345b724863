"""The postprocess and the score stage: plain functions from tables to tables. `docs/scoring.md` states every rule."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from evaluators.base import Design
from evaluators.cell import check_columns
from evaluators.choice import choose
from evaluators.judges.rivals import rivals_of
from evaluators.pipeline import UNANSWERED, Pipeline, json_text, jsonable
from leaderflow.core.artifacts import EXTRACTED, METRICS, SCORES, rows_of, table_of
from leaderflow.core.errors import DataError, did_you_mean
from leaderflow.core.registry import bind, build
from leaderflow.core.types import Extraction, Row
from leaderflow.core.validate import EVALUATOR_OWN

if TYPE_CHECKING:
    import pyarrow as pa

    from leaderflow.core.specs import DatasetSpec, Typed


def postprocess(
    outputs: pa.Table,
    samples: pa.Table,
    dataset: DatasetSpec,
    *,
    model_postprocessor: Typed | None = None,
    choice: str | None = None,
    role_markers: tuple[str, str] | None = None,
) -> pa.Table:
    """Return what each sample × repeat answered (EXTRACTED), in the order of `outputs`.

    A generated answer goes through the role cut, the model's, the dataset's and the evaluator's own postprocessor, in this order.
    Rows with labels give the label that `choice` picks; rows of a likelihood without labels give the mean loss a token.

    Args:
        outputs: the infer table.
        samples: the read table.
        dataset: whose eval_cfg applies.
        model_postprocessor: the model's pred_postprocessor.
        choice: how to pick among labels (`evaluators.choice`); None for generation.
        role_markers: begin and end of the role that pred_role names; only the text between them is kept.

    Raises:
        DataError: an answer of no sample, or a missing output column.
        SpecError: a postprocessor that does not exist.
    """
    asked = set(outputs.column("sample_id").to_pylist())  # a shard's own samples, not the whole cell's
    rows = dict(rows_of(samples.filter([sample_id in asked for sample_id in samples.column("sample_id").to_pylist()])))
    clean = Pipeline(dataset, model_postprocessor, role_markers)
    references = _references(rows, dataset)
    lines = []
    for (sample_id, repeat), group in _grouped(outputs.to_pylist()):
        if sample_id not in rows:
            raise DataError(f"the answer of sample {sample_id!r} belongs to no sample of {dataset.abbr}: read and infer differ")
        line = _labelled(group, choice) if choice and group[0]["label"] is not None else clean.line(group[0])
        lines.append({"sample_id": sample_id, "repeat": repeat, "reference": references[sample_id], **line})
    return table_of(EXTRACTED, lines)


def score(
    extracted: pa.Table,
    samples: pa.Table,
    outputs: pa.Table,
    dataset: DatasetSpec,
    answers: pa.Table | None = None,
    rivals: Mapping[str, pa.Table] | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return the scores of a cell and its metrics (SCORES, METRICS); rows with status ``error`` have no score.

    Args:
        extracted: the postprocess table.
        samples: the read table.
        outputs: the infer table.
        dataset: whose eval_cfg applies.
        answers: the judge's answers, where the evaluator asked questions.
        rivals: the postprocess tables of the models that the evaluator compares with.

    Raises:
        DataError: tables that do not belong together, or a column the evaluator needs.
        SpecError: an evaluator that does not exist or does not take these arguments, or a k above the repeats.
    """
    evaluator = build_evaluator(dataset, rivals)
    scores, metrics = evaluator.score(extracted, samples, outputs, answers)
    by_key = {(s.sample_id, s.repeat): s for s in scores}
    lines = []
    for line in extracted.select(["sample_id", "repeat", "status"]).to_pylist():
        found = by_key.pop((line["sample_id"], line["repeat"]), None)
        if found is not None and line["status"] != "error":
            detail = None if found.detail is None else json_text(found.detail)
            line |= {"correct": found.correct, "score": found.score, "cluster": found.cluster, "detail": detail}
        lines.append(line)
    if by_key:
        raise DataError(f"the evaluator scored {len(by_key)} rows that were never asked, first sample {next(iter(by_key))[0]!r}")
    numbers = [{"metric": m.name} | {name: getattr(m, name) for name in METRICS.names[1:]} for m in metrics]
    return table_of(SCORES, lines), table_of(METRICS, [_finite(n) for n in numbers])


def counts(extracted: pa.Table, outputs: pa.Table) -> dict[str, int]:
    """Return n, n_scored, n_unparsed, n_truncated, n_filtered, n_rejected and n_failed of a cell.

    n = n_scored + n_failed. A truncated row is counted from `outputs` whatever was found in it; a row without extraction, or
    without a readable verdict of a judge, is unparsed whatever its status, those with status ``error`` apart. So one row may
    count as truncated and as unparsed.
    """
    statuses = Counter(extracted.column("status").to_pylist())
    pairs = zip(extracted.column("status").to_pylist(), extracted.column("extracted").to_pylist(), strict=True)
    cut = zip(*(outputs.column(c).to_pylist() for c in ("sample_id", "repeat", "status")), strict=True)
    n, failed = extracted.num_rows, statuses["error"]
    return {
        "n": n,
        "n_scored": n - failed,
        "n_unparsed": sum(status == "unparsed" or (status != "error" and text is None) for status, text in pairs),
        "n_truncated": len({(sample, repeat) for sample, repeat, status in cut if status == "truncated"}),
        "n_filtered": statuses["filtered"],
        "n_rejected": statuses["rejected"],
        "n_failed": failed,
    }


def build_evaluator(dataset: DatasetSpec, rivals: Mapping[str, pa.Table] | None = None) -> Any:
    """Return the evaluator of a dataset, told its clusters and k, and what the models to compare with answered.

    Raises:
        SpecError: an unknown evaluator or argument.
    """
    config = {name: value for name, value in dataset.eval_cfg.evaluator.items() if name not in EVALUATOR_OWN}
    evaluator = build("evaluator", config, key=f"{dataset.abbr}.eval_cfg.evaluator")
    evaluator.design = Design(dataset.reader_cfg.cluster_column, dataset.n, tuple(dataset.k))
    evaluator.rivals = rivals_of(rivals or {})
    return evaluator


def check(dataset: DatasetSpec, samples: pa.Table) -> None:
    """See that the rows have what scoring needs, before any request is sent.

    Raises:
        DataError: no rows, a column that the evaluator, the clustering or the reference needs is absent, or a row that the
            evaluator cannot score.
        SpecError: a postprocessor or evaluator that does not exist or does not take its arguments.
    """
    evaluator, rows = build_evaluator(dataset), dict(rows_of(samples))
    name, column = dataset.eval_cfg.evaluator["type"], dataset.reader_cfg.output_column
    if not rows:
        raise DataError(f"{dataset.abbr}: no sample to score")
    if column is None and getattr(evaluator, "uses_references", False):
        raise DataError(f"{dataset.abbr}: {name} compares with a reference, and reader_cfg names no output_column")
    needed = ({column, dataset.reader_cfg.cluster_column} - {None}) | evaluator.needs
    for columns in {frozenset(row): row for row in rows.values()}.values():
        check_columns(columns, needed, f"{dataset.abbr} ({name})")
    Pipeline(dataset, None, None)
    references = [None if text is None else json.loads(text) for text in _references(rows, dataset).values()]
    if look := getattr(evaluator, "check", None):
        try:
            look(references, list(rows.values()))
        except DataError as exc:
            raise DataError(f"{dataset.abbr}: {exc}") from exc


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


def _references(rows: Mapping[str, Row], dataset: DatasetSpec) -> dict[str, str | None]:
    column, config = dataset.reader_cfg.output_column, dataset.eval_cfg.dataset_postprocessor
    config = config or dataset.eval_cfg.evaluator.get("dataset_postprocessor")
    if column is None:
        return dict.fromkeys(rows)
    clean: Callable[[Any], Any] = bind("postprocessor", config) if config else lambda value: value
    found: dict[str, str | None] = {}
    for sample_id, row in rows.items():
        if column not in row:
            raise DataError(f"{dataset.abbr}: no output column {column!r} in sample {sample_id!r}{did_you_mean(column, row)}")
        value = clean(row[column])
        found[sample_id] = json_text(jsonable(value.value if isinstance(value, Extraction) else value))
    return found


def _finite(metric: dict[str, Any]) -> dict[str, Any]:
    """NaN is no JSON: a number that does not exist is null."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in metric.items()}
