"""The ``predictions`` folder of an OpenCompass run: ``MODEL/DATASET.json``, or ``DATASET_0.json``, … for its parts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from leaderflow.core.errors import DataError, UsageError
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Answer, Json

Predictions = list[dict[str, Json]]
"""The rows of a cell, in the order of the dataset; with n repeats the whole dataset comes n times."""

LABEL = "label: "
"""How the keys of a likelihood row's candidates begin."""

_ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}


def work_dir(folder: Path) -> Path:
    """Return the folder that holds ``predictions``: the given one, its parent, or the newest run below it.

    Raises:
        UsageError: there is none.
    """
    if (folder / "predictions").is_dir():
        return folder
    if folder.name == "predictions" and folder.is_dir():
        return folder.parent
    runs = sorted(path.parent for path in folder.glob("*/predictions") if path.is_dir())
    if not runs:
        raise UsageError(f"{folder} holds no predictions/MODEL/DATASET.json; name the work directory of an OpenCompass run")
    return runs[-1]


def config_of(folder: Path) -> Path | None:
    """Return the configuration that OpenCompass kept beside the predictions, the newest where there are several."""
    return max((folder / "configs").glob("*.py"), default=None)


def cells(folder: Path) -> dict[str, dict[str, list[Path]]]:
    """Return model → dataset → files in order; parts are told by the file that has no number."""
    found: dict[str, dict[str, list[Path]]] = {}
    for file in sorted((folder / "predictions").glob("*/*.json")):
        part = re.fullmatch(r"(.+)_(\d+)", file.stem)
        whole = part is None or file.with_name(f"{part[1]}.json").exists() or not file.with_name(f"{part[1]}_0.json").exists()
        name = file.stem if part is None or whole else part[1]
        found.setdefault(file.parent.name, {}).setdefault(name, []).append(file)
    for datasets in found.values():
        for files in datasets.values():
            files.sort(key=lambda file: int(re.findall(r"\d+", file.stem)[-1]) if len(files) > 1 else 0)
    return found


def read(files: list[Path]) -> Predictions:
    """Return the rows of a cell.

    Raises:
        DataError: a file is no JSON object of rows ``"0"``, ``"1"``, …
    """
    return [row for file in files for row in _rows(file)]


def _rows(file: Path) -> Iterator[dict[str, Json]]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise DataError(f"{file} cannot be read as JSON: {exc}") from None
    if not isinstance(found, Mapping) or not all(str(key).isdigit() for key in found):
        raise DataError(f'{file} is no file of predictions: it must hold {{"0": {{"prediction": …}}, "1": …}}')
    for key in sorted(found, key=int):
        if not isinstance(found[key], Mapping) or "prediction" not in found[key]:
            raise DataError(f"{file}: row {key} has no prediction")
        yield dict(found[key])


def answer(row: Mapping[str, Json], label: str | None, request_key: str) -> Answer | None:
    """Return the stored answer that a row gives to a request; None where it holds none.

    A likelihood row keeps the mean loss a token for each label, so it counts as one token with that loss.
    """
    if label is not None:
        candidate = row.get(f"{LABEL}{label}")
        loss = candidate.get("PPL") if isinstance(candidate, Mapping) else None
        return None if loss is None else Answer(request_key, "ok", nll=float(loss), scored_tokens=1, attempts=0)
    prediction = row["prediction"]
    if isinstance(prediction, list) and prediction and all(isinstance(turn, str) for turn in prediction):
        return Answer(request_key, "ok", output=prediction[-1], turns=tuple(prediction), attempts=0)
    text = prediction if isinstance(prediction, str) else json.dumps(prediction, ensure_ascii=False)
    return Answer(request_key, "ok", output=text, attempts=0)


def as_dataset(dataset: DatasetSpec, rows: Predictions, folder: Path, *, text: bool) -> DatasetSpec:
    """Return the dataset made from the predictions' own prompts and golds, for when its data is not at hand.

    Args:
        dataset: the dataset whose data is missing.
        rows: its predictions.
        folder: where the file of the rows is written.
        text: whether the prompts are shown as text instead of messages.

    Raises:
        DataError: the predictions keep no golds, or are likelihoods.
    """
    rows = rows[: len(rows) // dataset.n]
    if not rows or any("gold" not in row or any(key.startswith(LABEL) for key in row) for row in rows):
        raise DataError(f"dataset {dataset.abbr!r}: its data is not at hand, and no prompts and golds can stand for it")
    column = dataset.reader_cfg.output_column or "gold"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{dataset.abbr}.jsonl"
    prompts = [row.get("origin_prompt", "") for row in rows]
    shown = [_text(prompt) if text else _messages(prompt) for prompt in prompts]
    lines = [{"prompt": prompt, column: row["gold"]} for prompt, row in zip(shown, rows, strict=True)]
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    template: dict[str, Json] = {"type": "PromptTemplate", "template": "{prompt}"}
    if not text:
        template = {"type": "RawPromptTemplate", "messages": [{"expand_column": "prompt"}], "format_variables": False}
    changes: dict[str, Any] = {
        "type": "JsonlDataset",
        "path": str(file),
        "name": None,
        "local": None,
        "prepare": None,
        "arguments": {},
        "compat": None,
        "reader_cfg": {"input_columns": ["prompt"], "output_column": column},
        "infer_cfg": {"prompt_template": template, "inferencer": {"type": "GenInferencer"}},
    }
    return DatasetSpec.model_validate(dataset.model_dump(mode="json") | changes)


def _text(prompt: Json) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(message["content"] for message in _messages(prompt))


def _messages(prompt: Json) -> list[dict[str, str]]:
    if not isinstance(prompt, list):
        return [{"role": "user", "content": str(prompt)}]
    parts = [part if isinstance(part, dict) else {"role": "user", "content": str(part)} for part in prompt]
    kept = [part for part in parts if part.get("content", part.get("prompt"))]
    return [{"role": _ROLES.get(p["role"], p["role"]), "content": str(p.get("content", p.get("prompt")))} for p in kept]
