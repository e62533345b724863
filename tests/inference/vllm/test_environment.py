"""The environment of vLLM is made whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from inference.vllm import environment
from leaderflow.core.errors import LeaderflowError

pytestmark = pytest.mark.xdist_group("vllm")  # one environment for the stand-in


def test_what_was_made_stays(fake_python: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_HOME", str(fake_python.parents[3]))
    said: list[str] = []
    assert environment.install(cpu=True, requirement=str(wheel), say=said.append) == environment.folder()
    assert said == []
    found = environment.look(environment.find_python(None))
    assert (found.version, found.cpu) == ("0.32.0", True)


def test_too_little_space_is_told_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil._ntuple_diskusage(10**12, 10**12, 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(LeaderflowError, match=r"vLLM needs about 8 GB and .* has 1\.0 GB free; make room, or set LEADERFLOW_HOME"):
        environment.install(cpu=True, requirement=None, say=print)
    assert not environment.folder().exists()
