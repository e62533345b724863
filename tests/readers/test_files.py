from __future__ import annotations

import datetime
import decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaderflow.core.errors import DataError, UsageError
from readers.stage import Source, absent_files
from tests.readers.make import dataset, jsonl, pool, questions, rows


def parquet(path: Path, columns: dict[str, list[object]]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_values_become_json(tmp_path: Path) -> None:
    file = parquet(
        tmp_path / "a.parquet",
        {
            "question": ["q"],
            "answer": [decimal.Decimal("12.50")],
            "day": [datetime.date(2024, 5, 1)],
            "score": [float("nan")],
            "nested": [{"a": [1, 2]}],
        },
    )
    assert rows(dataset(file, type="ParquetDataset")) == [
        {"question": "q", "answer": "12.50", "day": "2024-05-01", "score": None, "nested": {"a": [1, 2]}}
    ]


@pytest.mark.parametrize("value", [b"bytes", float("inf")])
def test_a_parquet_value_without_a_json_form_is_refused(tmp_path: Path, value: object) -> None:
    file = parquet(tmp_path / "a.parquet", {"question": ["q"], "answer": [value]})
    with pytest.raises(DataError, match=r"a\.parquet: row 1: column 'answer'"):
        rows(dataset(file))


def test_the_suffix_beats_the_type(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", questions(2))
    assert len(rows(dataset(file, type="CsvDataset"))) == 2
    bare = jsonl(tmp_path / "rows.txt", questions(2))
    assert len(rows(dataset(bare, type="JsonlDataset"))) == 2
    with pytest.raises(UsageError, match="cannot tell the format"):
        rows(dataset(bare, type="HFDataset"))


def test_the_data_folder_comes_before_the_recipes_own(tmp_path: Path) -> None:
    jsonl(tmp_path / "data" / "x.jsonl", questions(1, "data"))
    jsonl(tmp_path / "recipe" / "x.jsonl", questions(1, "recipe"))
    spec = dataset(local={"test": "x.jsonl"}, source=str(tmp_path / "recipe" / "toy.yaml"))
    assert rows(spec, Source(tmp_path / "data"))[0]["question"] == "data0"
    assert rows(spec, Source(tmp_path / "elsewhere"))[0]["question"] == "recipe0"
    assert absent_files(spec, Source(tmp_path / "elsewhere")) == []
    lost = dataset(local={"test": "y.jsonl"})
    assert absent_files(lost, Source(tmp_path / "data")) == [tmp_path / "data" / "y.jsonl"]


def test_an_absent_file_is_named_with_the_option(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file .*data/y\.jsonl.*--data-dir"):
        rows(dataset(local={"test": "y.jsonl"}), Source(tmp_path / "data"))
    with pytest.raises(DataError, match=r"no file .*z\.jsonl.*--data-dir"):
        rows(dataset(tmp_path / "z.jsonl"))


def test_a_dataset_without_any_file_is_refused() -> None:
    with pytest.raises(UsageError, match=r"needs a `path`"):
        rows(dataset())


def test_a_folder_holds_one_file_a_split(tmp_path: Path) -> None:
    jsonl(tmp_path / "train.jsonl", questions(3))
    jsonl(tmp_path / "test.jsonl", questions(2))
    spec = dataset(tmp_path)
    assert (len(rows(spec)), len(pool(spec))) == (2, 3)


def test_one_split_serves_as_both(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", questions(4))
    spec = dataset(file, test_range="[:1]")
    assert (len(rows(spec)), len(pool(spec))) == (1, 4)
    assert len(pool(dataset(local={"validation": str(file)}))) == 4
    assert len(rows(dataset(file, train_split="train", test_split="test"))) == 4


@pytest.mark.parametrize("key", ["test_split", "train_split"])
def test_an_absent_split_is_refused_with_those_present(tmp_path: Path, key: str) -> None:
    file = str(jsonl(tmp_path / "a.jsonl", questions(1)))
    with pytest.raises(DataError, match=rf"reader_cfg\.{key}: no split 'vall'; there are test, val; did you mean 'val'"):
        pool(dataset(local={"test": file, "val": file}, **{key: "vall"}))
    with pytest.raises(DataError, match=f"one split without a name: leave {key} out"):
        pool(dataset(file, **{key: "val"}))


def test_several_splits_without_a_test_split_need_a_name(tmp_path: Path) -> None:
    file = str(jsonl(tmp_path / "a.jsonl", questions(1)))
    with pytest.raises(DataError, match=r"reader_cfg\.test_split: no split 'test'; there are dev, val"):
        rows(dataset(local={"dev": file, "val": file}))
