"""Old results of OpenCompass as answers and runs: they can be re-scored, compared and shown, and nothing is asked again."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from flows import predictions as folder_of
from flows.api import evaluate
from flows.plan import render_all
from flows.predictions import Predictions
from flows.result import RunResult
from flows.work import plan_cell
from inference.stage import capabilities, defaults
from leaderflow.core.artifacts import rows_of
from leaderflow.core.errors import DataError, LeaderflowError, UsageError
from leaderflow.core.paths import home, store_uri
from leaderflow.core.specs import DatasetSpec, EvaluationSpec, ModelSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Answer, Json, Request
from tasks.session import Session

log = logging.getLogger("leaderflow.import")


@dataclass(frozen=True)
class Cell:
    """One cell to import."""

    model: ModelSpec
    dataset: DatasetSpec
    rows: Predictions


def import_predictions(folder: Path, spec: EvaluationSpec) -> list[RunResult]:
    """Bring the predictions of an OpenCompass run in and score them; models with the same datasets share a run.

    Every prediction is stored as the answer to the request that the specification renders for its row. A dataset whose data is not
    at hand is made of the prompts and golds that the predictions keep.

    Args:
        folder: the run's work directory (`predictions.work_dir`).
        spec: the run's configuration: its models and datasets are told by `abbr`.

    Raises:
        UsageError: no predictions fit the configuration, or they belong to other rows.
    """
    found = list(_cells(folder, spec))
    if not found:
        held = sorted({f"{model}/{name}" for model, datasets in folder_of.cells(folder).items() for name in datasets})
        raise UsageError(f"no model and dataset of the configuration has predictions; {folder} holds {', '.join(held[:5])}")
    own = home() / "imports" / folder.resolve().name
    done = [_store(cell, spec, own) for cell in found]
    return [evaluate(one, server=False) for one in _runs(done, spec)]


def _cells(folder: Path, spec: EvaluationSpec) -> Iterable[Cell]:
    files = folder_of.cells(folder)
    for model in spec.models:
        for dataset in spec.datasets:
            parts = files.get(model.abbr, {}).get(dataset.abbr)
            if parts:
                yield Cell(_stand_in(model), dataset, folder_of.read(parts))
            else:
                log.warning("%s has no predictions for %s: left out", model.abbr, dataset.abbr)


def _stand_in(model: ModelSpec) -> ModelSpec:
    """Return a model that has the imported answers and no weights or endpoint."""
    try:
        accepts = "messages" if "messages" in capabilities(model) else "text"
    except LeaderflowError:
        accepts = "text"
    kept = {"abbr": model.abbr, "path": model.path, "meta_template": model.meta_template}
    kept |= {"pred_postprocessor": model.pred_postprocessor, "arguments": {"accepts": accepts}}
    return ModelSpec.model_validate({"type": "Imported", **kept})


def _store(cell: Cell, spec: EvaluationSpec, own: Path) -> Cell:
    """Store a cell's predictions as answers; return the cell as it is to be run."""
    try:
        _store_rows(cell, spec)
    except DataError as exc:
        dataset = folder_of.as_dataset(cell.dataset, cell.rows, own, text=cell.model.arguments["accepts"] == "text")
        log.warning("%s; the prompts and golds of its predictions stand for it", exc)
        cell = Cell(cell.model, dataset, cell.rows)
        _store_rows(cell, spec)
    return cell


def _store_rows(cell: Cell, spec: EvaluationSpec) -> None:
    session = Session(spec, Store(store_uri()))
    session.store.check_writable()
    try:
        work = plan_cell(session, cell.model, cell.dataset)
        samples, prompts = render_all(session, work)
        _check_golds(cell, samples)
        identity = session.backend(cell.model).identity
        requests = work.inferencer.requests(prompts, identity, defaults(cell.model, cell.dataset.infer_cfg.inferencer))
        places = {sample_id: place for place, (sample_id, _) in enumerate(rows_of(samples))}
        with session.answers(cell.model).writer() as writer:
            for answer in _answers(cell, requests, _asked(prompts), places):
                writer.add(answer)
    finally:
        session.close()


def _asked(prompts: pa.Table) -> list[Mapping[str, Json]]:
    """Return (sample_id, label) of the inputs that are asked, in order."""
    return [row for row in prompts.select(["sample_id", "label", "status"]).to_pylist() if row["status"] == "ok"]


def _answers(cell: Cell, requests: list[Request], asked: list[Mapping[str, Json]], places: Mapping[str, int]) -> Iterable[Answer]:
    """Yield the answers: request after request, an input's repeats side by side."""
    repeats = len(requests) // len(asked) if asked else 1
    for number, request in enumerate(requests):
        row = asked[number // repeats]
        at = places[row["sample_id"]] + (number % repeats) * len(places)
        if at < len(cell.rows) and (found := folder_of.answer(cell.rows[at], row["label"], request.request_key)):
            yield found


def _check_golds(cell: Cell, samples: pa.Table) -> None:
    """See that the predictions belong to these rows.

    Raises:
        UsageError: their number or a gold differs.
    """
    name, rows = f"{cell.model.abbr}:{cell.dataset.abbr}", rows_of(samples)
    if len(cell.rows) > len(rows) * cell.dataset.n:
        raise UsageError(f"{name}: {len(cell.rows)} predictions for {len(rows)} rows; the configuration has another range or n")
    column = cell.dataset.reader_cfg.output_column
    for place, prediction in enumerate(cell.rows):
        gold = rows[place % len(rows)][1].get(column) if column else None
        if "gold" in prediction and prediction["gold"] is not None and str(prediction["gold"]) != str(gold):
            said = f"the gold of prediction {place} is {prediction['gold']!r:.60}, the row's {column} is {gold!r:.60}"
            raise UsageError(f"{name}: {said}; these predictions belong to other rows or another order")


def _runs(cells: list[Cell], spec: EvaluationSpec) -> Iterable[EvaluationSpec]:
    """Yield an evaluation for each set of models that have the same datasets."""
    of_model: dict[str, list[Cell]] = {}
    for cell in cells:
        of_model.setdefault(cell.model.abbr, []).append(cell)
    grouped: dict[str, list[list[Cell]]] = {}
    for own in of_model.values():
        grouped.setdefault("\n".join(cell.dataset.model_dump_json() for cell in own), []).append(own)
    for members in grouped.values():
        changes = {"models": [own[0].model for own in members], "datasets": [cell.dataset for cell in members[0]]}
        yield spec.model_copy(update=changes)
