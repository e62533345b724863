"""Examples whose texts are near the sample's: the nearest, or of the nearest those that differ from each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from leaderflow.core.errors import SpecError
from leaderflow.core.types import Capability
from templating.retrievers.base import KEY, Context, ExampleRetriever, Floats, Pool, Sample, at_least, enough, is_number
from templating.retrievers.embeddings import Space, normalised


class TopkRetriever(ExampleRetriever):
    """The rows with the largest inner product of embeddings, nearest first, by exact search.

    From Liu et al. 2022, "What Makes Good In-Context Examples for GPT-3?".

    Args:
        context: handed over by leaderflow.
        ice_num: how many examples.
        sentence_transformers_model_name: like `tokenizer_name` and `batch_size` it changes nothing, because leaderflow embeds with
            the model it is given; accepted because OpenCompass' configurations carry it.
        tokenizer_name: see there.
        batch_size: see there.
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    needs: ClassVar[frozenset[Capability]] = frozenset({"embed"})

    def __init__(
        self,
        context: Context,
        ice_num: int = 1,
        sentence_transformers_model_name: str = "all-mpnet-base-v2",
        tokenizer_name: str = "gpt2-xl",
        batch_size: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
    ) -> None:
        super().__init__(context, ice_num, ice_separator, ice_eos_token)

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose among the rows that are not the sample's twins."""
        barred = [pool.barred(sample) for sample in samples]
        for sample, own in zip(samples, barred, strict=True):
            enough(pool, sample, own, self.ice_num)
        return self.choose(samples, pool, self.space(samples, pool), barred)

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose among all rows; places that a small pool leaves open hold its last row."""
        chosen = self.choose(samples, pool, self.space(samples, pool), [set() for _ in samples])
        return [positions + [-1] * (self.ice_num - len(positions)) for positions in chosen]

    def choose(self, samples: Sequence[Sample], pool: Pool, space: Space, barred: Sequence[set[int]]) -> list[list[int]]:
        """Return the nearest positions of every sample."""
        return space.search(self.ice_num, barred)

    def space(self, samples: Sequence[Sample], pool: Pool) -> Space:
        """Embed the pool and the samples."""
        assert self.context.embed is not None, "checked by `retrieval.retrieve`"
        return Space.of(pool.texts(), [self.context.text(row) for _, row in samples], self.context.embed)


class MMRRetriever(TopkRetriever):
    """Near rows that differ from each other: maximal marginal relevance (Carbonell and Goldstein 1998), in the order of choice.

    Each step takes the candidate with the largest `relevance` · cos(sample, row) − (1 − `relevance`) · max cos(row, chosen row).

    Args:
        context: handed over by leaderflow.
        ice_num: how many examples.
        candidate_num: how many of the nearest rows are looked at.
        relevance: from 0 (only differ) to 1 (only near).
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    in_opencompass = False

    def __init__(
        self,
        context: Context,
        ice_num: int = 1,
        candidate_num: int = 50,
        relevance: float = 0.7,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
    ) -> None:
        super().__init__(context, ice_num, ice_separator=ice_separator, ice_eos_token=ice_eos_token)
        self.candidate_num = at_least("candidate_num", candidate_num, self.ice_num)
        if not is_number(relevance) or not 0 <= relevance <= 1:
            raise SpecError(f"relevance must lie between 0 and 1, got {relevance!r}", key=KEY)
        self.relevance = relevance

    def choose(self, samples: Sequence[Sample], pool: Pool, space: Space, barred: Sequence[set[int]]) -> list[list[int]]:
        """Return positions in the order of choice."""
        near = space.search(self.candidate_num, barred)
        return [[found[index] for index in self._greedy(*cosines(space, sample, found))] for sample, found in enumerate(near)]

    def _greedy(self, relevance: Floats, alike: Floats) -> list[int]:
        chosen: list[int] = []
        nearest = np.full(len(relevance), -1.0)
        for _ in range(self.ice_num):
            value = self.relevance * relevance - (1 - self.relevance) * (nearest if chosen else 0.0)
            value[chosen] = -np.inf
            chosen.append(int(np.argmax(value)))
            nearest = np.maximum(nearest, alike[chosen[-1]])
        return chosen


def cosines(space: Space, sample: int, found: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the cosines of a sample with some rows of the pool, shape (n,), and of these rows with each other, (n, n).

    Rounded to 9 digits: the last bits of a sum must not decide between equal texts.
    """
    rows = normalised(space.pool[list(found)])
    query = normalised(space.samples[sample : sample + 1])[0]
    return np.round(rows @ query, 9), np.round(rows @ rows.T, 9)
