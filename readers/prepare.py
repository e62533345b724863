"""A recipe's own transformation of rows: ``file.py:function`` beside the recipe, or ``package.module:function``.

The function takes the row as the source has it and returns the row that templates and evaluators see, or None to leave it out.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from leaderflow.core.errors import DataError, SpecError, did_you_mean
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.record import Record

Prepare = Callable[[Row], Row | None]


def prepare_function(dataset: DatasetSpec) -> Prepare | None:
    """Return the function that `prepare` names, or None where the recipe has none.

    Raises:
        SpecError: the file, the module or the function is absent, or the file cannot be run.
    """
    if dataset.prepare is None:
        return None
    path, _, name = dataset.prepare.rpartition(":")
    module = _module(dataset, path)
    found = getattr(module, name, None)
    if not callable(found):
        raise _wrong(dataset, f"{path} has no function {name!r}{did_you_mean(name, vars(module))}")
    return found  # type: ignore[no-any-return]


def prepare_code(dataset: DatasetSpec) -> Json:
    """Return what the preparation is: the function's name and the hash of its file."""
    if dataset.prepare is None:
        return None
    path, _, name = dataset.prepare.rpartition(":")
    file = _beside(dataset, path) if path.endswith(".py") else _module(dataset, path).__file__
    return [name, _sha256(Path(str(file)))]


def prepared(function: Prepare, record: Record, dataset: DatasetSpec) -> Row | None:
    """Return the prepared row of a record, or None if it is left out.

    Raises:
        DataError: the function failed or gave something that is no row; names file and row.
    """
    try:
        row = function(dict(record.row))
    except Exception as exc:
        raise DataError(f"{record.place}: prepare {dataset.prepare}: {type(exc).__name__}: {exc}") from exc
    if row is None:
        return None
    try:
        json.dumps(row, allow_nan=False)
    except (TypeError, ValueError) as exc:
        raise DataError(f"{record.place}: prepare {dataset.prepare}: the row is not JSON: {exc}") from None
    if not isinstance(row, dict):
        raise DataError(f"{record.place}: prepare {dataset.prepare}: must return a row or None, got {type(row).__name__}")
    return row


def _module(dataset: DatasetSpec, path: str) -> ModuleType:
    try:
        if path.endswith(".py"):
            file = _beside(dataset, path)
            return _load(file, _sha256(file))
        return importlib.import_module(path)
    except Exception as exc:
        raise _wrong(dataset, f"{type(exc).__name__}: {exc}") from exc


def _beside(dataset: DatasetSpec, path: str) -> Path:
    return (Path(dataset.source).parent if dataset.source else Path()) / path


@functools.cache
def _load(file: Path, digest: str) -> ModuleType:
    """Run a file once for each content; dataclasses look their module up in `sys.modules`."""
    spec = importlib.util.spec_from_file_location(f"leaderflow_recipe_{file.stem}_{digest[:12]}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module  # type: ignore[no-any-return]


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _wrong(dataset: DatasetSpec, message: str) -> SpecError:
    return SpecError(f"cannot use {dataset.prepare!r}: {message}", file=dataset.source, key=f"{dataset.abbr}.prepare")
