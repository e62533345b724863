from __future__ import annotations

from pathlib import Path

import pytest

from leaderflow.core.errors import DataError
from leaderflow.core.types import Row
from tests.readers.make import dataset, jsonl, questions, samples


def test_equal_rows_have_ids_of_their_own(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", [{"question": "same", "answer": "1"}] * 3)
    ids = [name for name, _ in samples(dataset(file))]
    assert len(set(ids)) == 3


def test_ids_are_no_positions(tmp_path: Path) -> None:
    items = questions(4)
    before = dict(samples(dataset(jsonl(tmp_path / "a.jsonl", items))))
    after = dict(samples(dataset(jsonl(tmp_path / "b.jsonl", [{"question": "new", "answer": "n"}, *reversed(items[1:])]))))
    assert len(before.keys() & after.keys()) == 3
    assert all(before[name] == after[name] for name in before.keys() & after.keys())


def test_an_id_does_not_hang_on_the_range(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", [*questions(3), *questions(3)])
    whole = [name for name, _ in samples(dataset(file))]
    assert [name for name, _ in samples(dataset(file, test_range="[3:]"))] == whole[3:]


def test_values_of_different_type_make_different_ids(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", [{"question": "q", "answer": value} for value in (5, 5.0, "5", ["5"], None)])
    assert len({name.split("-")[0] for name, _ in samples(dataset(file))}) == 5


def test_the_rows_own_id(tmp_path: Path) -> None:
    items: list[Row] = [{"id": 7, "question": "a", "answer": "1"}, {"id": "x", "question": "b", "answer": "2"}]
    file = jsonl(tmp_path / "a.jsonl", items)
    assert [name for name, _ in samples(dataset(file, id_column="id"))] == ["7", "x"]


@pytest.mark.parametrize("second", ["1", 1])
def test_ids_that_read_the_same_are_refused_with_both_lines(tmp_path: Path, second: str | int) -> None:
    items: list[Row] = [{"id": 1, "question": "a", "answer": "1"}, {"question": "b", "answer": "2", "id": second}]
    with pytest.raises(DataError) as caught:
        samples(dataset(jsonl(tmp_path / "a.jsonl", items), id_column="id"))
    assert "'1'" in str(caught.value)
    assert "a.jsonl:1" in str(caught.value)
    assert "a.jsonl:2" in str(caught.value)


@pytest.mark.parametrize("bad", [{}, {"id": None}, {"id": ""}, {"id": ["x"]}])
def test_a_row_without_an_id_is_refused(tmp_path: Path, bad: Row) -> None:
    file = jsonl(tmp_path / "a.jsonl", [{"question": "a", "answer": "1", **bad}])
    with pytest.raises(DataError, match=r"a\.jsonl:1: the id column 'id'"):
        samples(dataset(file, id_column="id"))
