"""Examples of the sample's own categories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from leaderflow.core.errors import DataError
from templating.retrievers.base import KEY, ExampleRetriever, Pool, Sample


class XiezhiRetriever(ExampleRetriever):
    """Rows of the pool that share one of the sample's ``labels``: those of its first label, then of the next, in the pool's order.

    A sample gets fewer than `ice_num` examples where fewer rows share a label. Arguments: see `ExampleRetriever`.
    """

    sorts_pool = False

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose each row once, the sample's twins left out."""
        chosen = (dict.fromkeys(shared) for shared in self._shared(samples, pool))
        barred = (pool.barred(sample) for sample in samples)
        pairs = zip(chosen, barred, strict=True)
        return [[position for position in shared if position not in own][: self.ice_num] for shared, own in pairs]

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose a row as often as it shares a label."""
        return [shared[: self.ice_num] for shared in self._shared(samples, pool)]

    def _shared(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        by_label = defaultdict(list)
        for position, row in enumerate(pool.rows):
            for label in _labels((pool.ids[position], row)):
                by_label[label].append(position)
        return [[position for label in _labels(sample) for position in by_label[label]] for sample in samples]


def _labels(sample: Sample) -> list[str]:
    sample_id, row = sample
    if not isinstance(row.get("labels"), list | str):
        raise DataError(f"{KEY}: row {sample_id!r} has no list in a column 'labels', by which XiezhiRetriever chooses")
    return [str(label) for label in row["labels"]]
