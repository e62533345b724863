"""Small stores made of tables, for what reads finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from leaderflow.core.artifacts import EXTRACTED, METRICS, OUTPUTS, SAMPLES, SCORES, table_of
from leaderflow.core.identity import sha256_hex, version_of
from leaderflow.core.manifest import CellEntry, Manifest
from leaderflow.core.specs import Summarizer
from leaderflow.core.store import ArtifactRef, Store
from reports import history
from reports.stage import Cell, summarize

Scores = Mapping[str, float | None]
"""Sample → score; None: no answer."""

PROTOCOL = {"reader_cfg": {"input_columns": ["q"]}, "infer_cfg": {"inferencer": {"type": "GenInferencer"}}}


def write(store: Store, stage: str, tables: Mapping[str, pa.Table], code: str = "") -> dict[str, ArtifactRef]:
    key = sha256_hex(code + repr([(name, table.to_pylist()) for name, table in tables.items()]))
    return store.write(stage, key, {"stage": stage, "code": code}, tables).tables


def cell(
    store: Store,
    model: str,
    dataset: str,
    scores: Scores,
    *,
    protocol: Mapping[str, Any] = PROTOCOL,
    rows: Mapping[str, str] | None = None,
    binary: bool = True,
    cluster: Mapping[str, str] | None = None,
    code: str = "",
) -> CellEntry:
    """Write a cell whose answers are right, wrong or absent as `scores` says."""
    own_rows = [{"sample_id": i, "row": (rows or {}).get(i, f'{{"q": "question {i}"}}')} for i in scores]
    status = {i: "error" if s is None else "ok" for i, s in scores.items()}
    lines = [{"sample_id": i, "repeat": 0, "status": status[i]} for i in scores]
    scored = [
        {
            **line,
            "score": scores[line["sample_id"]],
            "correct": scores[line["sample_id"]] == 1 if binary and scores[line["sample_id"]] is not None else None,
            "cluster": (cluster or {}).get(line["sample_id"]),
        }
        for line in lines
    ]
    outputs = [
        {**line, "request_key": f"{model}{i}", "part": 0, "output": f"{model} says {scores[i]}"}
        for i, line in zip(scores, lines, strict=True)
    ]
    extracted = [{**line, "extracted": f'"{scores[line["sample_id"]]}"', "reference": '"1"'} for line in lines]
    values = [s for s in scores.values() if s is not None]
    mean = 100 * sum(values) / len(values) if values else None
    metrics = [{"metric": "accuracy", "value": mean, "scale": 100.0, "stderr": 1.0, "higher_is_better": True}]
    samples = write(store, "read", {"samples": table_of(SAMPLES, own_rows), "pool": table_of(SAMPLES, [])})
    score = write(store, "score", {"scores": table_of(SCORES, scored), "metrics": table_of(METRICS, metrics)}, code)
    tables = {
        "samples": [samples["samples"]],
        "outputs": [write(store, "infer", {"outputs": table_of(OUTPUTS, outputs)})["outputs"]],
        "extracted": [write(store, "postprocess", {"extracted": table_of(EXTRACTED, extracted)})["extracted"]],
        "scores": [score["scores"]],
        "metrics": [score["metrics"]],
    }
    counts = {"n": len(scores), "n_scored": len(values), "n_failed": len(scores) - len(values)}
    version = version_of(protocol, samples["samples"].digest)
    return CellEntry(model=model, dataset=dataset, version=version, protocol=dict(protocol), tables=tables, counts=counts)


def run(store: Store, number: int, entries: Sequence[CellEntry], *, suite: str | None = None, **model: Any) -> Manifest:
    """Write run `number` with its cells, its summary and its line in the history."""
    moment = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(hours=number)
    models = [{"abbr": name, **model} for name in dict.fromkeys(entry.model for entry in entries)]
    datasets = [{"abbr": name} for name in dict.fromkeys(entry.dataset for entry in entries)]
    manifest = Manifest(
        run=f"{moment:%Y%m%d-%H%M%S}-{number:04x}",
        state="completed",
        started=moment.isoformat(),
        finished=moment.isoformat(),
        spec={"models": models, "datasets": datasets},
        suite=suite,
        cells={f"{entry.model}:{entry.dataset}": entry for entry in entries},
    )
    cells = [
        Cell(e.model, e.dataset, store.read(e.tables["metrics"][0]), e.counts, e.version or "", e.mode, e.group) for e in entries
    ]
    summary = summarize(cells, Summarizer())
    manifest.summary = write(store, "summarize", {"summary": summary})["summary"]
    manifest.save(store)
    history.append(store, manifest, summary)
    return manifest


def store_at(path: Path) -> Store:
    return Store(path / "store")
