"""Instructions whose following can be checked by a program: one small function an instruction, looked up by its id."""

from __future__ import annotations

from evaluators.instructions.registry import CHECKS, checkable, follows

__all__ = ["CHECKS", "checkable", "follows"]
