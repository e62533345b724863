"""leaderflow evaluates language models as Prefect flows, with Arrow files between the stages."""

from __future__ import annotations

__version__ = "0.1.0"
