from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from inference.embeddings import EmbeddingStore, Floats
from leaderflow.core.store import Store


class Counting:
    """Embeds a text as its length, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_a_text_is_embedded_once_whatever_the_run(tmp_path: Path) -> None:
    embed = Counting()
    first = EmbeddingStore(Store(tmp_path), "model", embed)(["a", "bb", "a"])
    assert first.tolist() == [[1, 1], [2, 1], [1, 1]]
    assert embed.asked == ["a", "bb"]
    again = EmbeddingStore(Store(tmp_path), "model", embed)(["bb", "ccc"])
    assert again.tolist() == [[2, 1], [3, 1]]
    assert embed.asked == ["a", "bb", "ccc"]


def test_another_model_has_embeddings_of_its_own(tmp_path: Path) -> None:
    embed = Counting()
    for model in ("one", "other"):
        EmbeddingStore(Store(tmp_path), model, embed)(["a"])
    assert embed.asked == ["a", "a"]
