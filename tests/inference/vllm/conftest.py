from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from inference.vllm import environment
from inference.vllm.backend import VLLM
from tests.inference.huggingface import tiny
from tests.inference.vllm import support

pytest.importorskip("transformers")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in for the package vLLM, as pip installs it."""
    return support.make_wheel(tmp_path_factory.mktemp("wheel"))


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
