from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderflow.core.artifacts import SAMPLES
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.specs import DatasetSpec
from readers.record import Record
from readers.stage import Source, fingerprint, read
from tests.readers.make import dataset, jsonl, pool, questions, rows, samples


class Squares:
    """A dataset type of a user's own."""

    def __init__(self, dataset: DatasetSpec, source: Source, upto: int) -> None:
        self.upto = upto

    def splits(self) -> list[str | None]:
        return [None]

    def records(self, split: str | None) -> list[Record]:
        return [Record({"question": f"{n}*{n}", "answer": n * n}, f"square {n}") for n in range(self.upto)]

    def fingerprint(self) -> int:
        return self.upto


def test_the_tables(tmp_path: Path) -> None:
    spec = dataset(jsonl(tmp_path / "a.jsonl", questions(5)), test_range="[:2]", train_range="[2:]")
    found, examples = read(spec, Source(), pool=True)
    assert found.schema == examples.schema == SAMPLES
    assert (found.num_rows, examples.num_rows) == (2, 3)
    assert read(spec, Source(), pool=False)[1].num_rows == 0


@pytest.mark.parametrize("wanted", [0, 0.1, "[9:]", "[2:1]", []])
def test_an_empty_range_is_refused(tmp_path: Path, wanted: object) -> None:
    spec = dataset(jsonl(tmp_path / "a.jsonl", questions(5)), test_range=wanted)
    with pytest.raises(DataError, match=r"datasets\.toy\.reader_cfg\.test_range: .* selects none of the 5 rows"):
        rows(spec)
    with pytest.raises(DataError, match=r"reader_cfg\.train_range: .* selects none"):
        pool(dataset(tmp_path / "a.jsonl", train_range=wanted))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no row"):
        rows(dataset(jsonl(tmp_path / "a.jsonl", [])))


@pytest.mark.parametrize("columns", [{"input_columns": ["qestion"]}, {"output_column": "qestion"}])
def test_an_absent_column_is_refused(tmp_path: Path, columns: dict[str, object]) -> None:
    with pytest.raises(DataError, match=r"a\.jsonl:1: no column 'qestion' .*the row has question, answer; did you mean 'question'"):
        rows(dataset(jsonl(tmp_path / "a.jsonl", questions(1)), **columns))


def test_a_misspelt_argument_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no argument 'feild'; did you mean 'field'"):
        rows(dataset(jsonl(tmp_path / "a.json", questions(1)), type="JsonDataset", arguments={"feild": "x"}))


def test_a_type_of_the_users_own() -> None:
    spec = dataset(type=f"{__name__}:Squares", arguments={"upto": 3})
    assert [row["answer"] for row in rows(spec)] == [0, 1, 4]
    assert fingerprint(spec, Source())["source"] == 3


def test_edited_rows_are_found_by_their_content(tmp_path: Path) -> None:
    before = samples(dataset(jsonl(tmp_path / "a.jsonl", questions(5))))
    items = questions(5)
    items[1]["question"] = "reworded"
    after = samples(dataset(jsonl(tmp_path / "a.jsonl", [*items[:3], items[4], {"question": "new", "answer": "9"}])))
    assert len(after) == 5
    assert len(dict(after).keys() - dict(before).keys()) == 2


def test_the_fingerprint_is_content_without_paths(tmp_path: Path) -> None:
    one, two = (jsonl(tmp_path / name / "a.jsonl", questions(2)) for name in ("x", "y"))
    assert fingerprint(dataset(one), Source()) == fingerprint(dataset(two), Source())
    assert str(tmp_path) not in json.dumps(fingerprint(dataset(one), Source()))
    jsonl(two, questions(3))
    assert fingerprint(dataset(one), Source()) != fingerprint(dataset(two), Source())
    assert fingerprint(dataset(one, columns=["a"]), Source()) != fingerprint(dataset(one), Source())


def test_recorded_semantics_cut_the_overwritten_train_split(tmp_path: Path) -> None:
    local = {name: str(jsonl(tmp_path / f"{name}.jsonl", questions(9, name))) for name in ("train", "dev")}
    changes = {"local": local, "train_split": "dev", "test_split": "train", "test_range": "[::4]"}
    assert [row["question"] for row in rows(dataset(**changes, compat="opencompass"))] == ["dev0", "dev4", "dev8"]
    assert [row["question"] for row in rows(dataset(**changes))] == ["train0", "train4", "train8"]
