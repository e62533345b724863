"""leaderflow evaluates language models as Prefect flows, with Arrow files between the stages."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_PUBLIC = {"load_run": "reports.runs"}
"""Public name → where it lies; imported when it is first asked for."""

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'leaderflow' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)
