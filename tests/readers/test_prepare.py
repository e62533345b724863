from __future__ import annotations

from pathlib import Path

import pytest

from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.specs import DatasetSpec
from readers.stage import Source, fingerprint
from tests.readers.make import dataset, jsonl, questions, rows, samples

CODE = """
from dataclasses import dataclass

@dataclass
class Pair:
    question: str

def upper(row):
    question = row.pop("question")
    return {"question": Pair(question.upper()).question, **row}

def odd(row):
    return row if int(row["answer"]) % 2 else None

def fails(row):
    return {"question": row["absent"]}

def text(row):
    return "no row"

def strange(row):
    return {"question": {1, 2}, "answer": "1"}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    jsonl(tmp_path / "toy.jsonl", questions(4))
    (tmp_path / "toy.py").write_text(CODE)
    return tmp_path / "toy.yaml"


def spec(recipe: Path, function: str, **changes: object) -> DatasetSpec:
    return dataset("toy.jsonl", source=str(recipe), prepare=f"toy.py:{function}", **changes)


def test_rows_are_prepared_and_keep_the_ids_of_the_source(recipe: Path) -> None:
    plain = samples(dataset("toy.jsonl", source=str(recipe)))
    done = samples(spec(recipe, "upper"))
    assert [row["question"] for _, row in done] == ["Q0", "Q1", "Q2", "Q3"]
    assert [name for name, _ in done] == [name for name, _ in plain]


def test_rows_are_left_out_before_a_range_is_cut(recipe: Path) -> None:
    assert [row["answer"] for row in rows(spec(recipe, "odd", test_range="[1:]"))] == ["3"]


@pytest.mark.parametrize(
    ("function", "said"),
    [("fails", "KeyError: 'absent'"), ("text", "must return a row or None, got str"), ("strange", "the row is not JSON")],
)
def test_a_failure_names_file_and_row(recipe: Path, function: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        rows(spec(recipe, function))
    assert f"toy.jsonl:1: prepare toy.py:{function}: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        ("toy.py:uper", "no function 'uper'; did you mean 'upper'"),
        ("absent.py:x", "FileNotFoundError"),
        ("no_such_package.module:x", "ModuleNotFoundError"),
        ("json:absent", "no function 'absent'"),
    ],
)
def test_a_wrong_name_is_refused(recipe: Path, prepare: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        rows(dataset("toy.jsonl", source=str(recipe), prepare=prepare))
    assert said in str(caught.value)


def test_a_function_of_a_package(recipe: Path) -> None:
    found = rows(dataset("toy.jsonl", source=str(recipe), prepare="builtins:dict"))
    assert found == questions(4)


def test_the_fingerprint_follows_the_code(recipe: Path) -> None:
    before = fingerprint(spec(recipe, "upper"), Source())
    assert fingerprint(spec(recipe, "odd"), Source()) != before
    (recipe.parent / "toy.py").write_text(CODE + "\n# changed\n")
    assert fingerprint(spec(recipe, "upper"), Source()) != before


def test_a_changed_file_is_loaded_again(recipe: Path) -> None:
    rows(spec(recipe, "upper"))
    (recipe.parent / "toy.py").write_text(CODE.replace("upper()", "title()"))
    assert rows(spec(recipe, "upper"))[0]["question"] == "Q0"
