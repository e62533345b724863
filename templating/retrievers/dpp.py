"""Examples that are near the sample and cover what it asks together: a determinantal point process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leaderflow.core.errors import DataError, SpecError
from templating.retrievers.base import KEY, Context, Floats, Pool, Sample, at_least, is_number
from templating.retrievers.embeddings import Space
from templating.retrievers.similar import TopkRetriever, cosines


class DPPRetriever(TopkRetriever):
    """Near rows that differ from each other: the likeliest set of a determinantal point process, nearest first.

    From Ye et al. 2023, "Compositional Exemplars for In-context Learning".

    The kernel is r_i · s_ij · r_j with s = (cos + 1) / 2 and r = exp((s_sample − max s_sample) / (2 · `scale_factor`)).

    Args:
        context: handed over by leaderflow.
        ice_num: how many examples.
        candidate_num: how many of the nearest rows are looked at; at least `ice_num`.
        scale_factor: the smaller, the more nearness counts against variety.
        seed: changes nothing; accepted, like the three arguments explained in `TopkRetriever`, for OpenCompass' configurations.
        sentence_transformers_model_name: see `TopkRetriever`.
        tokenizer_name: see `TopkRetriever`.
        batch_size: see `TopkRetriever`.
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    def __init__(
        self,
        context: Context,
        ice_num: int = 1,
        candidate_num: int = 1,
        scale_factor: float = 0.1,
        seed: int = 1,
        sentence_transformers_model_name: str = "all-mpnet-base-v2",
        tokenizer_name: str = "gpt2-xl",
        batch_size: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
    ) -> None:
        super().__init__(context, ice_num, ice_separator=ice_separator, ice_eos_token=ice_eos_token)
        self.candidate_num = at_least("candidate_num", candidate_num, self.ice_num)
        if not is_number(scale_factor) or scale_factor <= 0:
            raise SpecError(f"scale_factor must be above 0, got {scale_factor!r}", key=KEY)
        self.scale_factor = scale_factor

    def choose(self, samples: Sequence[Sample], pool: Pool, space: Space, barred: Sequence[set[int]]) -> list[list[int]]:
        """Return the set's positions, nearest first."""
        near = space.search(self.candidate_num, barred)
        if short := next((len(found) for found in near if len(found) < self.ice_num), None):
            raise DataError(f"{KEY}: ice_num is {self.ice_num}, but only {short} rows of the pool can serve")
        return [self._positions(found, *cosines(space, sample, found)) for sample, found in enumerate(near)]

    def _positions(self, found: list[int], relevance: Floats, alike: Floats) -> list[int]:
        relevance, alike = (relevance + 1) / 2, (alike + 1) / 2
        weight = np.exp((relevance - relevance.max(initial=0.0)) / (2 * self.scale_factor))
        chosen = greedy_map(weight[:, None] * alike * weight[None, :], self.ice_num)
        return [found[index] for index in sorted(chosen, key=lambda index: -weight[index])]


def greedy_map(kernel: Floats, wanted: int) -> list[int]:
    """Return the indices that a greedy search for the largest determinant picks, in the order of picking.

    Uses the incremental Cholesky factors of Chen et al. 2018, "Fast Greedy MAP Inference for Determinantal Point Process". Where
    the kernel's rank is used up, the first indices that are left follow.

    Args:
        kernel: positive semi-definite, shape (n, n).
        wanted: how many, at most n.
    """
    gain = np.diag(kernel).copy()
    factors = np.zeros((wanted, len(kernel)))
    chosen: list[int] = []
    for step in range(wanted):
        pick = int(np.argmax(gain))
        if gain[pick] > 1e-12:
            factors[step] = (kernel[pick] - factors[:step, pick] @ factors[:step]) / np.sqrt(gain[pick])
            gain = np.maximum(gain - factors[step] ** 2, 0.0)
        gain[chosen := [*chosen, pick]] = -1.0
    return chosen
