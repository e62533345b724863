"""Examples drawn by chance: plainly, or with the answers in balance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from leaderflow.core.errors import DataError
from leaderflow.core.identity import canonical_json
from templating.retrievers.base import KEY, Context, ExampleRetriever, Pool, Sample, checked_seed, enough, generator


class RandomRetriever(ExampleRetriever):
    """A draw without replacement for every sample, seeded by `seed` and the sample's id.

    Args:
        context: handed over by leaderflow.
        ice_num: how many examples.
        seed: another seed gives other examples.
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    def __init__(
        self, context: Context, ice_num: int = 1, seed: int = 43, ice_separator: str = "\n", ice_eos_token: str = "\n"
    ) -> None:
        super().__init__(context, ice_num, ice_separator, ice_eos_token)
        self.seed = checked_seed(seed)

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Draw for each sample from the pool without its twins."""
        return [self._draw(sample, pool) for sample in samples]

    def _draw(self, sample: Sample, pool: Pool) -> list[int]:
        barred = pool.barred(sample)
        enough(pool, sample, barred, self.ice_num)
        drawn = generator(self.seed, sample[0]).sample(range(len(pool)), self.ice_num + len(barred))
        return [position for position in drawn if position not in barred][: self.ice_num]

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Draw from one stream over the samples: numpy's legacy generator, `ice_num` of the pool at a time."""
        if self.ice_num > len(pool):
            raise DataError(f"{KEY}: ice_num is {self.ice_num}, but the pool has only {len(pool)} rows")
        stream = np.random.RandomState(self.seed)
        return [stream.choice(len(pool), self.ice_num, replace=False).tolist() for _ in samples]


class BalancedRetriever(RandomRetriever):
    """A draw in which all answers are equally frequent, as far as `ice_num` and the pool allow, in shuffled order.

    An unbalanced set of examples shifts a model's answers to the frequent label (Zhao et al. 2021, "Calibrate Before Use"). Takes
    turns among the values of the output column, in an order drawn for each sample; a label whose rows are used up is passed over.
    """

    in_opencompass = False

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Draw for each sample, label by label."""
        by_label = defaultdict(list)
        for position, row in enumerate(pool.rows):
            by_label[canonical_json(self.context.label(row))].append(position)
        groups = [by_label[label] for label in sorted(by_label)]
        return [self._take_turns(sample, pool, groups) for sample in samples]

    def _take_turns(self, sample: Sample, pool: Pool, groups: list[list[int]]) -> list[int]:
        barred = pool.barred(sample)
        enough(pool, sample, barred, self.ice_num)
        draw = generator(self.seed, sample[0])
        order = draw.sample(groups, len(groups))
        # no group gives more than ice_num rows, so no more are drawn from it than that and the barred ones
        queues = [draw.sample(group, min(len(group), self.ice_num + len(barred))) for group in order]
        queues = [[position for position in queue if position not in barred] for queue in queues]
        turns = [queue[turn] for turn in range(self.ice_num) for queue in queues if turn < len(queue)]
        return draw.sample(turns[: self.ice_num], self.ice_num)
