from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.inference.vllm.real.setting import HOME


@pytest.fixture(scope="session")
def _one_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One store for all these tests, which build on each other; the home is the one with the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", HOME)
        patch.setenv("LEADERFLOW_STORE", str(tmp_path_factory.mktemp("vllm") / "store"))
        yield


@pytest.fixture(autouse=True)
def _own_home(_one_home: None) -> None:
    """Leave home and store as they are set for all."""
