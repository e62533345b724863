"""A model type that notes every time its weights are loaded: one line with the process's id."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inference.huggingface.backend import HuggingFaceBaseModel
from inference.huggingface.engine import Work


class Counting(HuggingFaceBaseModel):
    """A `HuggingFaceBaseModel` with a list of its loads in `loads`."""

    def __init__(self, spec: Any, *, loads: str) -> None:
        super().__init__(spec)
        self._loads = Path(loads)

    def _load(self) -> Mapping[str, Work]:
        with self._loads.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return super()._load()
