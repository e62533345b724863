"""The OpenCompass package at hand: named by ``--opencompass-root``, or installed. It is read, never imported."""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path

from leaderflow.core.errors import SpecError

ROOT = "LEADERFLOW_OPENCOMPASS"
"""The variable that ``--opencompass-root`` sets."""


def root() -> Path | None:
    """Return the folder of the package, which holds ``configs`` and ``datasets``, or None.

    Raises:
        SpecError: the named folder is no OpenCompass.
    """
    given = os.environ.get(ROOT)
    if not given:
        return _installed()
    folder = Path(given).expanduser()
    for place in (folder, folder / "opencompass"):
        if (place / "configs").is_dir() or (place / "datasets").is_dir():
            return place.resolve()
    raise SpecError(f"{folder} holds no configs; name the opencompass package or its checkout", key="--opencompass-root")


def data_paths() -> Mapping[str, str]:
    """Return the package's own table of data: id → path below the data archive."""
    folder = root()
    return _data_paths(folder / "utils" / "datasets_info.py") if folder else {}


def _installed() -> Path | None:
    try:
        found = importlib.util.find_spec("opencompass")
    except (ImportError, ValueError):
        return None
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) if places else None


@functools.cache
def _data_paths(file: Path) -> Mapping[str, str]:
    if not file.is_file():
        return {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DATASETS_MAPPING":
            table: dict[str, dict[str, str | None]] = ast.literal_eval(node.value)
            return {name: str(entry["local"]) for name, entry in table.items() if entry.get("local")}
    return {}
