"""The schema of every table between stages. Declared, never inferred: a value that does not fit is an error, not a cast."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from leaderflow.core.errors import DataError

STRING, INT, FLOAT = pa.string(), pa.int64(), pa.float64()

SAMPLES = pa.schema([("sample_id", STRING), ("row", STRING)])
"""read: one row a sample, in the order of the selection. `row` is the dataset's row as JSON text, columns in the source's order:
a source may mix types in one column, and a prompt must show each value as it was written."""

EXAMPLES = pa.schema([("sample_id", STRING), ("example_ids", pa.list_(STRING))])
"""retrieve: the ids of a sample's in-context examples, in prompt order."""

PROMPTS = pa.schema(
    [
        ("sample_id", STRING),
        ("label", STRING),
        ("part", INT),
        ("occurrence", INT),
        ("input_key", STRING),
        ("messages", STRING),
        ("text", STRING),
        ("continuation", STRING),
        ("dropped_examples", INT),
        ("status", STRING),
        ("error", STRING),
    ]
)
"""render: one row a model input (sample × label × part). `messages` is canonical JSON; `label` is null in generation; `input_key`
hashes the exact input; `occurrence` counts equal inputs of the cell; status is ``ok`` or ``rejected`` (reason in `error`)."""

OUTPUTS = pa.schema(
    [
        ("request_key", STRING),
        ("sample_id", STRING),
        ("label", STRING),
        ("part", INT),
        ("repeat", INT),
        ("status", STRING),
        ("output", STRING),
        ("reasoning", STRING),
        ("turns", STRING),
        ("nll", FLOAT),
        ("scored_tokens", INT),
        ("token_logprobs", pa.list_(FLOAT)),
        ("finish_reason", STRING),
        ("prompt_tokens", INT),
        ("output_tokens", INT),
        ("reasoning_tokens", INT),
        ("reasoning_counted", STRING),
        ("latency_s", FLOAT),
        ("attempts", INT),
        ("error", STRING),
        ("error_class", STRING),
    ]
)
"""infer: one row a request (model input × repeat), in prompt order. `turns` is a JSON list of the assistant's turns."""

EXTRACTED = pa.schema(
    [
        ("sample_id", STRING),
        ("repeat", INT),
        ("status", STRING),
        ("extracted", STRING),
        ("span", pa.list_(INT)),
        ("extractor", STRING),
        ("reference", STRING),
    ]
)
"""postprocess: one row a sample × repeat. `extracted` and `reference` are JSON text (null: nothing found, no reference); `span` is
[start, end) in the output, where known."""

QUESTIONS = pa.schema([("question_id", STRING), ("sample_id", STRING), ("repeat", INT), ("question", STRING), ("row", STRING)])
"""judge, first table: one row a question to the judges. `row` is JSON text, the columns of the judge's template; `question` tells
apart the questions about one answer (an order, a criterion)."""

VERDICTS = pa.schema(
    [
        ("sample_id", STRING),
        ("repeat", INT),
        ("question", STRING),
        ("judge", STRING),
        ("judge_repeat", INT),
        ("status", STRING),
        ("verdict", STRING),
    ]
)
"""What the judges said: question × judge × judge's repeat, `verdict` as JSON text (null: unreadable). Not stored: joined from
QUESTIONS and the judges' EXTRACTED tables."""

SCORES = pa.schema(
    [
        ("sample_id", STRING),
        ("repeat", INT),
        ("status", STRING),
        ("correct", pa.bool_()),
        ("score", FLOAT),
        ("cluster", STRING),
        ("detail", STRING),
    ]
)
"""score, first table: one row a sample × repeat; rows with status ``error`` have no score."""

RATED = pa.schema([(name, SCORES.field(name).type) for name in ("correct", "score", "cluster", "detail")])
"""What an evaluator says of a row: SCORES without the columns that are known before."""

METRICS = pa.schema(
    [
        ("metric", STRING),
        ("value", FLOAT),
        ("scale", FLOAT),
        ("stderr", FLOAT),
        ("ci_low", FLOAT),
        ("ci_high", FLOAT),
        ("higher_is_better", pa.bool_()),
    ]
)
"""score, second table: the cell's metrics, the first one being the cell's number on a leaderboard."""

COUNTS = ("n", "n_scored", "n_unparsed", "n_truncated", "n_filtered", "n_rejected", "n_failed")

SUMMARY = pa.schema(
    [
        ("model", STRING),
        ("dataset", STRING),
        *METRICS,
        *[(name, INT) for name in COUNTS],
        ("version", STRING),
        ("mode", STRING),
        ("group", pa.bool_()),
        ("partial", pa.bool_()),
        ("note", STRING),
    ]
)
"""summarize: model × dataset × metric, groups included. n = n_scored + n_failed; the other counts are inside n_scored."""

MEASURED = frozenset(
    {
        *("prompt_tokens", "output_tokens", "reasoning_tokens", "reasoning_counted", "latency_s", "attempts"),
        *("error", "error_class", "token_logprobs", "finish_reason"),
    }
)
"""Columns that tell how a result came about, not what it is: left out of every digest."""

TABLES: Mapping[str, Mapping[str, pa.Schema]] = {
    "read": {"samples": SAMPLES, "pool": SAMPLES},
    "retrieve": {"examples": EXAMPLES},
    "render": {"prompts": PROMPTS},
    "infer": {"outputs": OUTPUTS},
    "postprocess": {"extracted": EXTRACTED},
    "judge": {"questions": QUESTIONS},
    "score": {"scores": SCORES, "metrics": METRICS},
    "summarize": {"summary": SUMMARY},
}
"""Stage → its tables by name."""


def completed(stage: str, table: pa.Table) -> pa.Table:
    """Return a stored table of a stage in today's schema: measured columns that came later are null in it."""
    for schema in TABLES.get(stage, {}).values():
        missing = set(schema.names) - set(table.schema.names)
        if missing and missing <= MEASURED and set(table.schema.names) <= set(schema.names):
            return filled(table, schema.with_metadata(table.schema.metadata))
    return table


def filled(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table in a schema; the columns that it lacks are null."""
    there = set(table.schema.names)
    columns = [table.column(f.name) if f.name in there else pa.nulls(table.num_rows, f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def table_of(schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Build a table from dictionaries; missing keys are null, foreign keys and values of another type are errors.

    Raises:
        DataError: names the column, the type it must have and the type that came.
    """
    rows = list(rows)
    names = set(schema.names)
    for row in rows[:1]:
        if foreign := set(row) - names:
            raise DataError(f"column {sorted(foreign)[0]!r} is not in the schema ({', '.join(schema.names)})")
    columns = [_column(field, [row.get(field.name) for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(field: pa.Field, values: list[Any]) -> pa.Array:
    try:
        return pa.array(values, type=field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as exc:
        bad = next((v for v in values if v is not None and not _fits(v, field.type)), None)
        raise DataError(f"column {field.name!r} must be {field.type}, got {type(bad).__name__}: {exc}") from exc


def _fits(value: Any, kind: pa.DataType) -> bool:
    try:
        pa.array([value], type=kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return False
    return True


def rows_of(samples: pa.Table) -> list[tuple[str, dict[str, Any]]]:
    """Return (sample_id, row) of a read table, each row with its columns in the source's order."""
    ids, rows = samples.column("sample_id").to_pylist(), samples.column("row").to_pylist()
    return [(i, json.loads(r)) for i, r in zip(ids, rows, strict=True)]


def samples_of(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> pa.Table:
    """Build a read table from (sample_id, row)."""
    pairs = [(i, json.dumps(r, ensure_ascii=False, allow_nan=False)) for i, r in rows]
    return table_of(SAMPLES, [{"sample_id": i, "row": r} for i, r in pairs])
