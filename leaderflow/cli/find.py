"""Which samples ``leaderflow show`` shows: filters over the joined rows of a run's cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderflow.core.errors import UsageError, did_you_mean
from leaderflow.core.types import Json

if TYPE_CHECKING:
    import pyarrow as pa

    from leaderflow.core.manifest import CellEntry, Manifest
    from leaderflow.core.store import Store

Rows = list[dict[str, Json]]

SQL_COLUMNS = (
    "cell, sample_id, repeat, status, correct, score, extracted, reference, detail, output, reasoning, finish_reason, error, "
    "prompt_tokens, output_tokens, reasoning_tokens, latency_s, attempts, row"
)
"""What ``--where`` can name; extracted, reference, detail and row are JSON."""

FILTERS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "wrong": lambda row: row["status"] != "error" and not (row["correct"] if row["correct"] is not None else row["score"] == 1),
    "unparsed": lambda row: row["status"] == "unparsed" or (row["status"] != "error" and row["extracted"] is None),
    "failed": lambda row: row["status"] == "error",
}
"""failed is not wrong: those rows have no answer. unparsed: nothing was extracted, whatever the status."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    n: int = 10
    filters: tuple[str, ...] = ()
    sample: str | None = None
    where: str | None = None
    audit: bool = False

    @property
    def chooses(self) -> bool:
        """Whether anything narrows the samples."""
        return bool(self.filters or self.sample or self.where or self.audit)


def cells_of(manifest: Manifest, cell: str | None, dataset: str | None, wanted: Wanted) -> list[str]:
    """Return the cells whose samples are shown: the named ones, a run's only one, and all of them where a filter chooses.

    Raises:
        UsageError: no cell is of that name.
    """
    from leaderflow.cli.samples import the_cell

    if cell is not None:
        return [the_cell(manifest, cell)]
    if dataset is not None:
        found = [name for name, entry in manifest.cells.items() if dataset in (entry.dataset, entry.group)]
        if not found:
            known = list(dict.fromkeys(entry.dataset for entry in manifest.cells.values()))
            hint = did_you_mean(dataset, known)
            raise UsageError(f"run {manifest.run} has no dataset {dataset!r}{hint}; it has {', '.join(known[:8])}")
        return found
    return list(manifest.cells) if wanted.chooses or len(manifest.cells) == 1 else []


def find(store: Store, manifest: Manifest, cells: Sequence[str], wanted: Wanted) -> Rows:
    """Return the chosen rows of some cells, at most `n` a cell; of one sample all.

    Raises:
        UsageError: no such sample, or SQL that cannot be run.
    """
    from leaderflow.cli.samples import cell_rows

    found: Rows = []
    seen: list[str] = []
    for name in cells:
        rows = cell_rows(store, manifest.cells[name])
        seen += [str(row["sample_id"]) for row in rows]
        if wanted.audit:
            rows = _doubtful(store, manifest, manifest.cells[name], rows)
        if wanted.where is not None:
            rows = _where(rows, wanted.where)
        if wanted.sample is not None:
            found += [row for row in rows if str(row["sample_id"]).startswith(wanted.sample)]
        else:
            found += [row for row in rows if all(FILTERS[name](row) for name in wanted.filters)][: wanted.n]
    if wanted.sample is not None and not found:
        raise UsageError(f"no sample {wanted.sample!r} in {', '.join(cells[:4])}{did_you_mean(wanted.sample, seen)}")
    return found


def _doubtful(store: Store, manifest: Manifest, entry: CellEntry, rows: Rows) -> Rows:
    """Return the rows about which the extractors disagree or one finds nothing, with what each ``found``."""
    import pyarrow as pa

    from evaluators.audit import audit
    from leaderflow.core.specs import EvaluationSpec
    from tasks.postprocess import markers_of

    spec = EvaluationSpec.model_validate(manifest.spec)
    dataset = next(dataset for dataset in spec.datasets if dataset.abbr == entry.dataset)
    model = next(model for model in spec.models if model.abbr == entry.model)
    outputs: pa.Table = pa.concat_tables([store.read(ref) for ref in entry.tables["outputs"]])
    doubts = audit(outputs, dataset, model_postprocessor=model.pred_postprocessor, role_markers=markers_of(dataset, model))
    by_row = {(doubt.sample_id, doubt.repeat): dict(doubt.found) for doubt in doubts}
    return [{**row, "found": by_row[key]} for row in rows if (key := (row["sample_id"], row["repeat"])) in by_row]


def _where(rows: Rows, condition: str) -> Rows:
    import duckdb

    samples = _flat(rows)
    try:
        with duckdb.connect(config={"enable_external_access": "false"}) as connection:
            connection.register("samples", samples)
            kept = connection.execute(f"SELECT position FROM samples WHERE {condition}").fetchall()
    except duckdb.Error as exc:
        first = str(exc).strip().splitlines()[0]
        raise UsageError(f"--where {condition!r}: {first} (columns: {SQL_COLUMNS})") from exc
    return [rows[position] for (position,) in sorted(kept)]


def _flat(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    types = {"repeat": whole, "correct": pa.bool_(), "score": real, "prompt_tokens": whole, "output_tokens": whole}
    types |= {"reasoning_tokens": whole, "latency_s": real, "attempts": whole}
    names = [name.strip() for name in SQL_COLUMNS.split(",")]
    lines = []
    for position, row in enumerate(rows):
        answer = row["answers"][0] if row["answers"] else {}
        own = {name: row[name] if name in row else answer.get(name) for name in names}
        coded = {name: None if own[name] is None else json.dumps(own[name], ensure_ascii=False) for name in names[6:9] + names[-1:]}
        lines.append({"position": position, **own, **coded})
    schema = pa.schema([("position", whole), *((name, types.get(name, text)) for name in names)])
    return pa.Table.from_pylist(lines, schema=schema)
