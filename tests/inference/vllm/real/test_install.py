"""The installer on the environment that it made, and on what it cannot make."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.vllm import environment
from leaderflow.core.errors import LeaderflowError
from tests.inference.vllm import support
from tests.inference.vllm.real.setting import MARKS

pytestmark = MARKS


def test_installing_again_changes_nothing() -> None:
    said: list[str] = []
    before = (environment.folder() / ".complete").stat().st_mtime_ns
    assert environment.install(cpu=True, requirement=None, say=said.append) == environment.folder()
    assert said == []
    assert (environment.folder() / ".complete").stat().st_mtime_ns == before
    assert environment.look(environment.find_python(None)).cpu


def test_pip_that_fails_leaves_nothing_and_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    with pytest.raises(LeaderflowError, match=r"pip install .* failed: .*no\.whl"):
        environment.install(cpu=True, requirement=str(tmp_path / "no.whl"), say=print)
    assert not environment.folder().exists()


def test_a_server_that_cannot_be_imported_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    broken = support.make_wheel(tmp_path, without="vllm/entrypoints/openai/api_server.py")
    with pytest.raises(
        LeaderflowError, match=r"failed: ModuleNotFoundError: No module named 'vllm\.entrypoints\.openai\.api_server'"
    ):
        environment.install(cpu=False, requirement=str(broken), say=print)
    assert not environment.folder().exists()
