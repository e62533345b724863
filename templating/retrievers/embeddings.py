"""Embeddings of a pool and of samples, each distinct text embedded once, and exact search among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderflow.core.errors import BackendError
from templating.retrievers.base import KEY, Embed, Floats, best

Vectors = npt.NDArray[np.float32]

BLOCK = 2**25
"""Similarities that are held in memory at once (128 MiB)."""

MARGIN = 1e-4
"""How far, relative to the longest vectors, a float32 similarity may lie beside the exact one: far above the rounding error of any
embedding's dimension, so that no row is lost before the exact comparison."""


def embedded(texts: Sequence[str], embed: Embed) -> Vectors:
    """Return the texts' embeddings, shape (len(texts), dimension).

    Equal texts get one vector, and `embed` sees the distinct texts sorted, so that nothing hangs on the rows' order.

    Raises:
        BackendError: what `embed` returned has another shape or holds numbers that are not finite.
    """
    distinct = sorted(set(texts))
    vectors = np.asarray(embed(distinct), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(distinct):
        raise BackendError(f"{KEY}: the embedding model gave an array of shape {vectors.shape} for {len(distinct)} texts")
    if not np.isfinite(vectors).all():
        raise BackendError(f"{KEY}: the embedding model gave numbers that are not finite")
    place = {text: index for index, text in enumerate(distinct)}
    return vectors[[place[text] for text in texts]]


def normalised(vectors: Vectors) -> Floats:
    """Return the vectors in float64, divided by their lengths; a zero vector stays zero."""
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return exact / np.where(lengths == 0, 1.0, lengths)


@dataclass(frozen=True)
class Space:
    """The embeddings of a pool and of the samples that search in it, shapes (rows, dimension) and (samples, dimension)."""

    pool: Vectors
    samples: Vectors

    @classmethod
    def of(cls, pool: Sequence[str], samples: Sequence[str], embed: Embed) -> Space:
        """Embed the texts of a pool and of samples."""
        vectors = embedded([*pool, *samples], embed) if pool or samples else np.zeros((0, 1), np.float32)
        return cls(vectors[: len(pool)], vectors[len(pool) :])

    def search(self, wanted: int, barred: Sequence[set[int]]) -> list[list[int]]:
        """Return for each sample the pool's `wanted` nearest positions by inner product, nearest first, ties by position.

        Args:
            wanted: how many; a smaller pool gives all it has.
            barred: for each sample the positions that are left out.
        """
        if not len(self.pool) or not wanted:
            return [[] for _ in barred]
        rows = max(1, BLOCK // len(self.pool))
        slack = MARGIN * _longest(self.pool) * _longest(self.samples)
        found = []
        for start in range(0, len(self.samples), rows):
            rough = self.samples[start : start + rows] @ self.pool.T
            found += [self._exact(start + row, near, slack, wanted, barred[start + row]) for row, near in enumerate(rough)]
        return found

    def _exact(self, sample: int, rough: Vectors, slack: float, wanted: int, barred: set[int]) -> list[int]:
        """Compare again in float64 whatever may be among the nearest: a matrix product's last bits depend on its shape."""
        kept = max(0, len(rough) - wanted - len(barred))
        near = np.flatnonzero(rough >= np.partition(rough, kept)[kept] - slack)
        scores = (self.pool[near].astype(np.float64) * self.samples[sample]).sum(axis=1)
        place = {int(position): index for index, position in enumerate(near)}
        order = best(scores, wanted, {place[position] for position in barred if position in place})
        return [int(near[index]) for index in order]


def _longest(vectors: Vectors) -> float:
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
