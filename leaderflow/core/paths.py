"""Where things lie: `LEADERFLOW_HOME`, `LEADERFLOW_STORE`, the shipped recipes."""

from __future__ import annotations

import os
from pathlib import Path

import leaderflow


def home() -> Path:
    """Return the local home (server, environments, models): ``LEADERFLOW_HOME``, by default ``~/.leaderflow``."""
    return Path(os.environ.get("LEADERFLOW_HOME") or Path.home() / ".leaderflow").expanduser()


def store_uri() -> str:
    """Return the store's place, a path or a URI of `pyarrow.fs`: ``LEADERFLOW_STORE``, by default ``store`` in the home."""
    return os.environ.get("LEADERFLOW_STORE") or str(home() / "store")


def data_file(name: str) -> Path:
    """Return a file or folder that ships with leaderflow: ``recipes``, ``dataset_index.yml`` or ``deployments``.

    In a wheel they lie inside the package, in a checkout beside it.
    """
    package = Path(leaderflow.__file__).parent
    shipped = package / "_data" / name
    return shipped if shipped.exists() else package.parent / name
