from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.huggingface.backend import HuggingFaceBaseModel, HuggingFacewithChatTemplate
from leaderflow.core.specs import ModelSpec
from tests.inference.huggingface import tiny

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("tiny") / "model")


def spec(folder: Path, **fields: object) -> ModelSpec:
    return ModelSpec(**{"type": "HuggingFaceBaseModel", "abbr": "tiny", "path": str(folder), "batch_size": 4, **fields})


@pytest.fixture(scope="session")
def base(folder: Path) -> Iterator[HuggingFaceBaseModel]:
    backend = HuggingFaceBaseModel(spec(folder))
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def chat(folder: Path) -> Iterator[HuggingFacewithChatTemplate]:
    backend = HuggingFacewithChatTemplate(spec(folder))
    yield backend
    backend.close()
