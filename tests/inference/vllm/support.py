"""VLLM backends on the stand-in server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil

from inference.vllm.backend import VLLM, VLLMwithChatTemplate
from leaderflow.core.specs import ModelSpec

FAKE = Path(__file__).resolve().parents[2] / "fake_vllm" / "__main__.py"

ARGUMENTS: dict[str, Any] = {"command": [sys.executable, str(FAKE)], "version": "0.1", "startup_timeout": 60}


def spec(folder: Path, **fields: Any) -> ModelSpec:
    values = {"type": "VLLM", "abbr": "tiny", "path": str(folder), "batch_size": 8, "retries": 0, **fields}
    values["arguments"] = {**ARGUMENTS, **fields.get("arguments", {})}
    return ModelSpec(**values)


def backend(folder: Path, chat: bool = False, **fields: Any) -> VLLM:
    block = spec(folder, **fields)
    return (VLLMwithChatTemplate if chat else VLLM)(block, **block.arguments)


def starts(file: Path) -> list[list[str]]:
    """What each start noted: pid of the server, pid of its child, port, devices."""
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def gone(*pids: str) -> bool:
    return not any(psutil.pid_exists(int(pid)) and psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE for pid in pids)
