"""A small embedder for tests that need no model: a text is the counts of its letters and digits, L2-normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789 "


def spelling(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return an array of shape (len(texts), 37)."""
    counts = np.array([[text.casefold().count(sign) for sign in SIGNS] for text in texts], dtype=np.float32)
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
