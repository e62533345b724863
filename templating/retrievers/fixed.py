"""No examples, the same examples for every sample, and the rows just before the sample: positions in the pool's own order."""

from __future__ import annotations

from collections.abc import Sequence

from leaderflow.core.errors import DataError, SpecError
from templating.retrievers.base import KEY, Context, ExampleRetriever, Pool, Sample, at_least, enough


class ZeroRetriever(ExampleRetriever):
    """No examples (zero-shot).

    Args:
        context: handed over by leaderflow.
        ice_eos_token: text where the examples would end; read by the templates.
    """

    def __init__(self, context: Context, ice_eos_token: str = "") -> None:
        super().__init__(context, ice_num=0, ice_eos_token=ice_eos_token)

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose nothing."""
        return [[] for _ in samples]

    recorded = native


class FixKRetriever(ExampleRetriever):
    """The same rows of the pool for every sample.

    A sample that is itself among them, or asks the same question as one of them, goes without that example: no row is put in its
    place that the configuration does not name.

    Args:
        context: handed over by leaderflow.
        fix_id_list: 0-based positions in the pool (the train split after train_range), in prompt order.
        ice_num: changes nothing; accepted because OpenCompass' configurations carry it.
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    sorts_pool = False

    def __init__(
        self, context: Context, fix_id_list: list[int], ice_num: int = 1, ice_separator: str = "\n", ice_eos_token: str = "\n"
    ) -> None:
        super().__init__(context, ice_num, ice_separator, ice_eos_token)
        if not isinstance(fix_id_list, list) or not all(type(position) is int for position in fix_id_list):
            raise SpecError(f"fix_id_list must be a list of row positions, got {fix_id_list!r}", key=KEY)
        if not context.compat and (below := [position for position in fix_id_list if position < 0]):
            raise SpecError(f"fix_id_list counts from 0, got {below[0]}", key=KEY)
        self.fix_id_list = fix_id_list

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose the listed positions, a sample's twins left out."""
        if beyond := [position for position in self.fix_id_list if position >= len(pool)]:
            raise DataError(f"{KEY}.fix_id_list: row {beyond[0]} is out of the pool, which has {len(pool)} rows")
        barred = (pool.barred(sample) for sample in samples)
        return [[position for position in self.fix_id_list if position not in own] for own in barred]

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose the listed positions; a negative one counts from the end."""
        return [self.fix_id_list for _ in samples]


class SlidingWindowRetriever(ExampleRetriever):
    """The `k` rows before the sample, going round to the pool's last rows at its start.

    A sample that is in the pool (train and test split are the same) is found there by its id; any other counts from its own
    position among the samples. A sample's twins are stepped over.

    Args:
        context: handed over by leaderflow.
        k: how many rows.
        ice_num: changes nothing; accepted because OpenCompass' configurations carry it.
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    sorts_pool = False

    def __init__(self, context: Context, k: int, ice_num: int = 1, ice_separator: str = "\n", ice_eos_token: str = "\n") -> None:
        super().__init__(context, ice_num, ice_separator, ice_eos_token)
        self.k = at_least("k", k, 0)

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose the rows before the sample in the pool's order."""
        place = {sample_id: position for position, sample_id in enumerate(pool.ids)}
        return [self._before(sample, place.get(sample[0], index), pool) for index, sample in enumerate(samples)]

    def _before(self, sample: Sample, anchor: int, pool: Pool) -> list[int]:
        barred = pool.barred(sample)
        enough(pool, sample, barred, self.k)
        backwards = (position % len(pool) for position in range(anchor - 1, anchor - 1 - len(pool), -1))
        free = [position for position in backwards if position not in barred][: self.k]
        return free[::-1]

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose test positions and use them in the pool, padded at the start with its last rows."""
        return [
            [*range(len(pool) - self.k + index, len(pool)), *range(index)] if index < self.k else list(range(index - self.k, index))
            for index in range(len(samples))
        ]
