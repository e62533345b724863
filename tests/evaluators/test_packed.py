from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.packed import Packed
from evaluators.ratings import Rating, Ratings

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.integers(), st.floats(allow_nan=False), st.sampled_from(["", "a", "b"])
)
PLAIN = [
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=2),
    st.tuples(st.booleans(), st.integers(-9, 9)),
    st.tuples(LEAVES, st.tuples(LEAVES, st.booleans())),
    st.just(()),
    st.lists(LEAVES, max_size=2),
]
BLOCKS = st.one_of(
    *(st.lists(st.lists(kind | st.none() if optional else kind, max_size=4), max_size=4) for kind in PLAIN for optional in (0, 1)),
    st.lists(st.lists(st.one_of(*PLAIN), max_size=4), max_size=4),
)


def shape(value: Any) -> Any:
    """A value with its type: 1, True and 1.0 are three things."""
    return [shape(part) for part in value] if isinstance(value, tuple) else (type(value), repr(value))


@given(BLOCKS, st.lists(st.integers(0, 99), max_size=6))
@settings(deadline=None)
def test_values_come_back_as_they_went_in(blocks: list[list[Any]], picked: list[int]) -> None:
    column, values = Packed(), [value for block in blocks for value in block]
    for block in blocks:
        column.extend(block)
    assert len(column) == len(values)
    assert list(map(shape, column.tolist())) == list(map(shape, values))
    rows = np.array([at % len(values) for at in picked] if values else [], dtype=int)
    assert list(map(shape, column.take(rows).tolist())) == [shape(values[at]) for at in rows]


def test_totals_are_exact() -> None:
    column = Packed()
    column.extend([(2**40, (True, 0.5)), (1, (True, 0.25))])
    assert shape(column.total()) == shape((2**40 + 1, (2, 0.75)))
    column.extend([None])
    with pytest.raises(TypeError):
        column.total()


def test_ratings_in_columns_are_the_same_ratings() -> None:
    listed = [
        Rating({"f1": 0.5, "em": 0.0}, False, data=(1, "a")),
        Rating({}, None),
        Rating({"em": 1.0}, True, data=(2, "b")),
        Rating({"f1": 0.25}, None, data=(3, "a")),
    ]
    columns = Ratings()
    for start in (0, 2):
        columns.extend(listed[start : start + 2])
    assert list(columns) == listed
    assert [columns[at] for at in (0, -1)] == [listed[0], listed[-1]]
    assert list(columns[1:3]) == listed[1:3]
    assert columns.names == ["f1", "em"]
    assert list(columns.numbers("em")) == [0.0, 1.0]
    part = columns.take(np.array([3, 2, 2]))
    assert (list(part), part.names) == ([listed[3], listed[2], listed[2]], ["f1", "em"])
    assert list(part.take(np.array([1, 1])).numbers("em")) == [1.0, 1.0]
    assert part.right == [False, True, True]


def test_a_metric_may_come_to_lead_and_silence_become_wrong() -> None:
    columns = Ratings()
    columns.extend([Rating({"accuracy": 1.0}, True, data=1), Rating({"accuracy": 0.0}, None, data=2)])
    columns.lead("exact", {1: 1.0})
    columns.settle()
    assert list(columns) == [Rating({"accuracy": 1.0}, True, data=1), Rating({"exact": 1.0, "accuracy": 0.0}, False, data=2)]
    assert [part.tolist() for part in columns.leading(0, 2)] == [[1.0, 1.0], [False, False]]


@pytest.mark.timeout(30)
def test_large_numbers_are_appended_in_time_that_grows_with_them_and_their_sum_does_not_wrap() -> None:
    column, block = Packed(), [2**40] * 500
    for _ in range(4000):
        column.extend(block)
    assert column.total() == 2**40 * 500 * 4000
    column.extend([2**63 - 1, 2**63 - 1])
    assert column.total() == 2**40 * 500 * 4000 + 2**64 - 2
