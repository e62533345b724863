from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderflow.core.errors import SpecError, UsageError
from readers.ranges import parse_slices, select

IDS = [f"id{number}" for number in range(50)]


def test_none_is_all_rows_in_order() -> None:
    assert select(IDS, None) == list(range(50))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[:3]", [0, 1, 2]),
        ("[10:20][2:4]", [12, 13]),
        ("[-2:]", [48, 49]),
        ("[8:1:-3]", [8, 5, 2]),
        (" [ 1 : 3 ] ", [1, 2]),
        ("[:2][::-1]", [1, 0]),
        ("[49:400]", [49]),
    ],
)
def test_slices_cut_in_source_order(text: str, expected: list[int]) -> None:
    assert select(IDS, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[:5]; import os",
        "[0:2]+[5:7]",
        "[5]",
        "5",
        "[",
        "[1:2:0]",
        "[:len(index_list)]",
        "[0:3,5]",
        "[[0]]",
        "[:0.5]",
        "[1:2:3:4]",
        "",
    ],
)
def test_what_is_no_slice_is_refused_with_its_key(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        select(IDS, text, key="datasets.toy.reader_cfg.test_range")
    assert "datasets.toy.reader_cfg.test_range" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="[]:-+0123456789 Nonex_.,()", max_size=12))
def test_any_text_is_a_slice_or_a_clean_error(text: str) -> None:
    try:
        parts = parse_slices(text)
    except SpecError:
        return
    expected = list(range(50))
    for part in parts:
        expected = expected[part]
    assert select(IDS, text) == expected


def test_a_smaller_draw_is_the_beginning_of_a_larger_one() -> None:
    assert select(IDS, 20)[:10] == select(IDS, 10)
    assert select(IDS, 0.4) == select(IDS, 20)
    assert sorted(select(IDS, 20)) != list(range(20))


def test_the_draw_hangs_on_the_seed_alone() -> None:
    assert select(IDS, 10, seed=1) == select(IDS, 10, seed=1) != select(IDS, 10, seed=2)


def test_an_added_row_displaces_one_row_at_most() -> None:
    before = {IDS[position] for position in select(IDS, 20)}
    grown = ["new", *IDS]
    after = {grown[position] for position in select(grown, 20)}
    assert len(before - after) <= 1


def test_a_draw_of_everything_keeps_the_order() -> None:
    assert select(IDS, 50) == select(IDS, 99) == select(IDS, 1.0) == list(range(50))


def test_positions() -> None:
    assert select(IDS, [7, 3]) == [7, 3]
    with pytest.raises(UsageError, match=r"no row 50: the split has 50 rows"):
        select(IDS, [0, 50])
    with pytest.raises(UsageError, match="twice"):
        select(IDS, [1, 1])


@pytest.mark.parametrize("wanted", [-1, 1.5, -0.5, 0.0, {"a": 1}])
def test_other_numbers_are_refused(wanted: Any) -> None:
    with pytest.raises(SpecError, match="no range"):
        select(IDS, wanted)


def test_a_recorded_draw_is_seeded_by_its_count() -> None:
    assert select(IDS[:10], 3, compat="opencompass") == select(IDS[:10], 0.3, compat="opencompass") == [1, 5, 6]
    assert select(IDS[:10], -1, compat="opencompass") == list(range(10))
