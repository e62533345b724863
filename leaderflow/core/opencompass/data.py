"""Where OpenCompass configurations find their data: ``opencompass/gsm8k`` means the folder ``data/gsm8k`` of its data archive."""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator
from pathlib import Path

from leaderflow.core.opencompass.package import data_paths

LOCAL = {
    "opencompass/ai2_arc-dev": "data/ARC/ARC-c/ARC-Challenge-Dev.jsonl",
    "opencompass/ai2_arc-test": "data/ARC/ARC-c/ARC-Challenge-Test.jsonl",
    "opencompass/ai2_arc-easy-dev": "data/ARC/ARC-e/ARC-Easy-Dev.jsonl",
    "opencompass/bbh": "data/BBH/data",
    "opencompass/boolq": "data/SuperGLUE/BoolQ/val.jsonl",
    "opencompass/ceval-exam": "data/ceval/formal_ceval",
    "opencompass/commonsense_qa": "data/commonsenseqa",
    "opencompass/hellaswag": "data/hellaswag/hellaswag.jsonl",
    "opencompass/humaneval": "data/humaneval/human-eval-v2-20210705.jsonl",
    "opencompass/openbookqa_test": "data/openbookqa/Main/test.jsonl",
    "opencompass/race": "data/race",
    "opencompass/winogrande": "data/winogrande",
}
"""The ids whose path is not ``data/NAME``, for the dataset classes that are read without the package."""

_DATA_DIR: contextvars.ContextVar[Path | None] = contextvars.ContextVar("opencompass_data_dir", default=None)


@contextlib.contextmanager
def data_dir(folder: Path | None) -> Iterator[None]:
    """Look below this folder first while the block runs."""
    token = _DATA_DIR.set(folder)
    try:
        yield
    finally:
        _DATA_DIR.reset(token)


def get_data_path(dataset_id: str, local_mode: bool = False) -> str:
    """Return where the data of an id or a relative path lies; the first candidate where nothing is there."""
    found = candidates(dataset_id)
    return str(next((path for path in found if path.exists()), found[0]))


def candidates(dataset_id: str) -> list[Path]:
    """Return the places where data is looked for, best first.

    Below the run's data directory, ``COMPASS_DATA_CACHE``, the working directory and ``~/.cache/opencompass``, with and without the
    leading ``data``.
    """
    if Path(dataset_id).is_absolute():
        return [Path(dataset_id)]
    default = dataset_id.replace("opencompass/", "data/", 1) if dataset_id.startswith("opencompass/") else dataset_id
    relative = Path(data_paths().get(dataset_id) or LOCAL.get(dataset_id, default))
    short = Path(*relative.parts[1:]) if relative.parts[:1] == ("data",) and len(relative.parts) > 1 else relative
    cache = os.environ.get("COMPASS_DATA_CACHE")
    folders = [_DATA_DIR.get(), Path(cache) if cache else None, Path(), Path.home() / ".cache" / "opencompass"]
    return [folder / path for folder in folders if folder for path in dict.fromkeys((relative, short))]
