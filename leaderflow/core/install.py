"""The packages are installed as they are named (`tasks`, `readers`, …): something else of that name may stand in the way."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import leaderflow
from leaderflow.core.errors import LeaderflowError

PACKAGES = ("flows", "tasks", "readers", "templating", "inference", "evaluators", "reports")


def check_packages() -> None:
    """See that every package of ours would be imported from beside this one.

    Raises:
        LeaderflowError: another distribution, or a folder on the path, has the name of one.
    """
    root = Path(leaderflow.__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found != root / name:
            raise LeaderflowError(
                f"the package {name!r} would come from {found or 'nowhere'} instead of {root / name}; "
                "rename or uninstall what is in the way (PYTHONSAFEPATH=1 leaves the working directory out)"
            )
