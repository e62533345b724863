"""Which rows are computed together: sorted by length, under a budget of padded tokens, likelihoods grouped by common prefix."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_WINDOW = 32
"""Rows that can share one prefix."""

_PASS = 16
"""What a second pass through the model costs, in tokens: below that, a shared prefix is not worth it."""


def by_budget(rows: Sequence[T], *, cells: Callable[[T], int], max_rows: int, budget: int) -> Iterator[list[T]]:
    """Cut rows, longest first, into batches of at most `max_rows` whose padded size (rows × longest) stays within `budget`.

    The longest come first so that running out of memory shows at once; a row above the budget goes alone.
    """
    batch: list[T] = []
    for row in sorted(rows, key=cells, reverse=True):
        if batch and (len(batch) == max_rows or cells(batch[0]) * (len(batch) + 1) > budget):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the length of the common prefix of two token sequences."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def by_prefix(rows: Sequence[T], *, ids: Callable[[T], Sequence[int]], budget: int) -> list[list[T]]:
    """Group rows that share a prefix so that the fewest tokens are computed.

    A group computes its common prefix once and every row's rest. In lexical order the best groups are runs of neighbours, so the
    optimum over all cuts is found by dynamic programming. The candidates of one question always come together, and with long
    few-shot prefixes several questions do.
    """
    ordered = sorted(rows, key=lambda row: list(ids(row)))
    tokens = [ids(row) for row in ordered]
    shared = [common_prefix(a, b) for a, b in itertools.pairwise(tokens)]
    best, cut = [0], [0]
    for end in range(1, len(ordered) + 1):
        cost, start = min((best[s] + c, s) for s, c in _last_groups(tokens, shared, end, budget))
        best.append(cost)
        cut.append(start)
    groups, end = [], len(ordered)
    while end:
        groups.append(ordered[cut[end] : end])
        end = cut[end]
    return groups[::-1]


def _last_groups(tokens: Sequence[Sequence[int]], shared: Sequence[int], end: int, budget: int) -> Iterator[tuple[int, int]]:
    """Yield (start, cost) of every group that may end before `end`."""
    total = longest = prefix = len(tokens[end - 1])
    yield end - 1, total
    for start in range(end - 2, max(end - 1 - _WINDOW, -1), -1):
        total += len(tokens[start])
        longest = max(longest, len(tokens[start]))
        prefix = min(prefix, shared[start])
        size = end - start
        if prefix == 0 or size * longest > budget:
            return
        yield start, total - (size - 1) * prefix + _PASS
