"""The judge's part of scoring, as plain functions: answers → questions, and the judges' extracted replies → verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import compute

from evaluators.judges.rivals import Settled, pretended_rivals
from evaluators.stage import build_evaluator, cell_of, postprocess
from leaderflow.core.artifacts import OUTPUTS, QUESTIONS, SAMPLES, VERDICTS, table_of
from leaderflow.core.streams import PIECE, Rows, TableRows, as_rows
from leaderflow.core.types import Question

if TYPE_CHECKING:
    from leaderflow.core.specs import DatasetSpec

PLACEHOLDER = "(here stands the answer of the model)"


def questions(
    extracted: pa.Table,
    samples: pa.Table,
    outputs: pa.Table,
    dataset: DatasetSpec,
    rivals: Mapping[str, pa.Table] | None = None,
) -> pa.Table:
    """Return what the judges are asked about a cell whose tables are in memory, as `asked` does."""
    others = {model: TableRows(table) for model, table in (rivals or {}).items()}
    batches = asked(TableRows(extracted), TableRows(samples), TableRows(outputs), dataset, others)
    return pa.Table.from_batches(batches, QUESTIONS)


def asked(
    extracted: Rows, samples: Rows, outputs: Rows, dataset: DatasetSpec, rivals: Mapping[str, Rows] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield what the judges are asked about a cell (QUESTIONS), in the order of its rows; nothing where nothing is to be judged.

    Args:
        extracted: the postprocess table.
        samples: the read table.
        outputs: the infer table.
        dataset: whose evaluator asks.
        rivals: the postprocess tables of the models to compare with.

    Raises:
        DataError: a row lacks what a question needs.
    """
    evaluator = build_evaluator(dataset)
    found: Iterator[Question] = evaluator.questions(cell_of(evaluator, extracted, samples, outputs, rivals))
    while block := list(islice(found, PIECE)):
        lines = [
            {
                "question_id": "#".join([q.sample_id, str(q.repeat), *([q.name] if q.name else [])]),
                "sample_id": q.sample_id,
                "repeat": q.repeat,
                "question": q.name,
                "row": json.dumps(q.row, ensure_ascii=False, allow_nan=False),
            }
            for q in block
        ]
        yield from table_of(QUESTIONS, lines).to_batches()


def without_judges(evaluator: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluator's configuration without who judges: that counts by the judge's identity, not by how it is written."""
    kept = {name: value for name, value in evaluator.items() if name not in ("judge", "judge_cfg")}
    return {name: without_judges(value) if isinstance(value, Mapping) else value for name, value in kept.items()}


def pretended(samples: pa.Table, dataset: DatasetSpec, rivals: Sequence[str] = ()) -> pa.Table:
    """Return what the judges would be asked if every answer were a placeholder: to check and to show before any request."""
    answers = [
        {"sample_id": sample_id, "part": 0, "repeat": 0, "status": "ok", "output": PLACEHOLDER}
        for sample_id in samples.column("sample_id").to_pylist()
    ]
    outputs = table_of(OUTPUTS, answers)
    evaluator = {name: value for name, value in dataset.eval_cfg.evaluator.items() if name != "pred_postprocessor"}
    plain = dataset.eval_cfg.model_copy(update={"pred_postprocessor": None, "pred_role": None, "evaluator": evaluator})
    bare = dataset.model_copy(update={"eval_cfg": plain})
    extracted = postprocess(outputs, samples, bare)
    return questions(extracted, samples, outputs, dataset, pretended_rivals(rivals, extracted))


def as_samples(questions: pa.Table) -> pa.Table:
    """Return questions as the rows of a dataset, ready to be rendered."""
    return pa.Table.from_arrays([questions.column("question_id"), questions.column("row")], schema=SAMPLES)


def verdicts(questions: pa.Table, replies: Iterable[tuple[str, pa.Table]]) -> pa.Table:
    """Return the VERDICTS of a cell.

    Args:
        questions: what was asked.
        replies: (judge, its EXTRACTED table), a judge's shards one after the other.
    """
    known, parts = questions.column("question_id").combine_chunks(), []
    for judge, table in replies:
        place = compute.index_in(table.column("sample_id"), value_set=known)
        about = questions.select(["sample_id", "repeat", "question"]).take(place)
        judges = pa.array([judge] * table.num_rows, type=pa.string())
        said = [table.column(name) for name in ("repeat", "status", "extracted")]
        parts.append(pa.Table.from_arrays([*about.columns, judges, *said], schema=VERDICTS))
    return pa.concat_tables([VERDICTS.empty_table(), *parts])


def settled(extracted: pa.Table | Rows, verdicts: pa.Table, minimum: int, rivals: Mapping[str, Rows] | None = None) -> Settled:
    """Return the rows of EXTRACTED with what became of the questions about each."""
    return Settled(as_rows(extracted), verdicts, minimum, rivals or {})
