from __future__ import annotations

from pathlib import Path

import pytest

from tests.inference.huggingface import tiny

pytest.importorskip("transformers")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("tiny") / "model")
