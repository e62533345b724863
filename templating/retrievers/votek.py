"""The same examples for every sample, chosen to represent the pool: vote-k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leaderflow.core.errors import DataError
from templating.retrievers.base import KEY, Context, Floats, Pool, Sample, at_least, enough, generator
from templating.retrievers.embeddings import Space, normalised
from templating.retrievers.similar import TopkRetriever

DISCOUNT = 10.0
"""The ρ of Su et al. 2023: how much less a voter counts for every row chosen that it also votes for."""


class VotekRetriever(TopkRetriever):
    """Rows that many rows of the pool are near to, each chosen for other ones; the same for every sample.

    From Su et al. 2023, "Selective Annotation Makes Language Models Better Few-Shot Learners" (its graph-based step).

    Every row votes for its `votek_k` nearest. A sample that is itself a twin of a chosen row gets the next one instead.

    Args:
        context: handed over by leaderflow.
        ice_num: how many examples.
        votek_k: how many rows each row votes for.
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
        votek_k: int = 3,
        sentence_transformers_model_name: str = "all-mpnet-base-v2",
        tokenizer_name: str = "gpt2-xl",
        batch_size: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
    ) -> None:
        super().__init__(context, ice_num, ice_separator=ice_separator, ice_eos_token=ice_eos_token)
        self.votek_k = at_least("votek_k", votek_k, 1)

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Rank the pool by discounted votes and give every sample the first rows that are not its twins."""
        barred = [pool.barred(sample) for sample in samples]
        for sample, own in zip(samples, barred, strict=True):
            enough(pool, sample, own, self.ice_num)
        longest = min(len(pool), self.ice_num + max(map(len, barred), default=0))
        ranking = rank(self._ballots(pool), longest)
        return [[position for position in ranking if position not in own][: self.ice_num] for own in barred]

    def _ballots(self, pool: Pool) -> list[list[int]]:
        vectors = normalised(self.space([], pool).pool).astype(np.float32)
        return Space(vectors, vectors).search(self.votek_k, [{position} for position in range(len(pool))])

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose by plain votes; what is missing is drawn, by OpenCompass without a seed, here with a fixed one."""
        vectors = normalised(self.space([], pool).pool)
        chosen = elect(vectors @ vectors.T, self.ice_num, self.votek_k)
        rest = [position for position in range(len(pool)) if position not in chosen]
        if (missing := self.ice_num - len(chosen)) > len(rest):
            raise DataError(f"{KEY}: ice_num is {self.ice_num}, but the pool has only {len(pool)} rows")
        return [chosen + generator("votek").sample(rest, missing) for _ in samples]


def rank(ballots: Sequence[Sequence[int]], wanted: int) -> list[int]:
    """Return the positions with the most votes, ties by position, votes discounted step by step.

    Args:
        ballots: for each row the positions it votes for, equally many.
        wanted: how many, at most the number of rows.
    """
    votes = np.array(ballots, dtype=np.intp).reshape(len(ballots), -1 if ballots else 0)
    weight = np.ones(len(ballots))
    chosen: list[int] = []
    for _ in range(wanted):
        count = np.bincount(votes.ravel(), np.repeat(weight, votes.shape[1]), len(ballots))
        count[chosen] = -1.0
        chosen.append(int(np.argmax(count)))
        weight[(votes == chosen[-1]).any(axis=1)] /= DISCOUNT
        weight[chosen[-1]] = 0.0
    return chosen


def elect(alike: Floats, wanted: int, votek_k: int) -> list[int]:
    """Return up to `wanted` positions as OpenCompass elects them.

    A row is passed over if all its voters voted for one that had more votes.

    Args:
        alike: cosines of all rows with each other, shape (n, n).
        wanted: how many.
        votek_k: how many rows each row votes for.
    """
    voters: dict[int, set[int]] = {}
    for row, near in enumerate(np.argsort(alike, axis=1)[:, -votek_k - 1 : -1].tolist()):
        for position in near:
            if position != row:
                voters.setdefault(position, set()).add(row)
    chosen: list[int] = []
    earlier: list[set[int]] = []
    for position, ballot in sorted(voters.items(), key=lambda item: -len(item[1])):
        if len(chosen) < wanted and not any(ballot <= other for other in earlier):
            chosen.append(position)
        earlier.append(ballot)
    return chosen
