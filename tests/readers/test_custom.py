from __future__ import annotations

from pathlib import Path

import pytest

from leaderflow.core.errors import DataError, UsageError
from leaderflow.core.types import Json
from readers.custom import dataset_from_file, is_data_file
from readers.stage import Source, read
from tests.readers.make import jsonl, rows


def test_multiple_choice(tmp_path: Path) -> None:
    file = tmp_path / "my exam.csv"
    file.write_text("question,A,B,C,answer\nWhich?,one,two,three,B\n")
    spec = dataset_from_file(file)
    assert spec.abbr == "my_exam"
    assert spec.reader_cfg.input_columns == ["question", "A", "B", "C"]
    assert spec.eval_cfg.pred_postprocessor == {"type": "choice_letter", "options": "ABC"}
    prompt = spec.infer_cfg.prompt_template
    assert prompt is not None
    assert "C. {C}" in prompt["messages"][0]["content"]
    assert read(spec, Source(), pool=True)[1].num_rows == 1


def test_short_answers(tmp_path: Path) -> None:
    spec = dataset_from_file(jsonl(tmp_path / "qa.jsonl", [{"question": "q", "answer": 5}, {"question": "r", "answer": "five"}]))
    assert spec.type == "JsonlDataset"
    assert rows(spec) == [{"question": "q", "answer": 5}, {"question": "r", "answer": "five"}]
    assert spec.eval_cfg.evaluator == {"type": "ExactMatch"}  # any of a list counts, as do 5 and 5.0


@pytest.mark.parametrize(
    ("answers", "numbers"),
    [
        ([5, 5.5, "5", "1,234.5", "-3", [1, "2"], 0, "0.5"], True),
        ([5, "5 km"], False),
        ([5, True], False),
        ([5, "007"], False),
        (["2030-01-31"], False),
        (["1,5"], False),
        ([[5, "five"]], False),
    ],
)
def test_a_file_of_numbers_is_scored_by_value(tmp_path: Path, answers: list[Json], numbers: bool) -> None:
    spec = dataset_from_file(jsonl(tmp_path / "qa.jsonl", [{"question": "q", "answer": answer} for answer in answers]))
    found = spec.eval_cfg.evaluator, spec.eval_cfg.pred_postprocessor
    as_number, as_text = ({"type": "NumberMatch"}, {"type": "final_number"}), ({"type": "ExactMatch"}, {"type": "final_answer"})
    assert found == (as_number if numbers else as_text)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column 'answer'; it has question, anwser; did you mean 'anwser'"):
        dataset_from_file(jsonl(tmp_path / "a.jsonl", [{"question": "q", "anwser": 5}]))
    with pytest.raises(DataError, match="without a gap; it has A, C"):
        dataset_from_file(jsonl(tmp_path / "b.jsonl", [{"question": "q", "A": "1", "C": "3", "answer": "A"}]))
    with pytest.raises(DataError, match="holds no row"):
        dataset_from_file(jsonl(tmp_path / "c.jsonl", []))
    with pytest.raises(DataError, match="No such file"):
        dataset_from_file(tmp_path / "absent.jsonl")
    with pytest.raises(UsageError, match="ends in one of"):
        dataset_from_file(tmp_path / "a.xlsx")
    assert is_data_file("x.CSV")
    assert not is_data_file("gsm8k")


@pytest.mark.parametrize("answer", [0, "b", "Paris", "C", "", None, "AB"])
def test_an_answer_that_is_no_option_is_refused_with_its_line(tmp_path: Path, answer: object) -> None:
    good = {"question": "q", "A": "Rome", "B": "Paris", "answer": "B"}
    file = jsonl(tmp_path / "exam.jsonl", [good, {**good, "answer": answer}])
    with pytest.raises(DataError, match=r"exam\.jsonl:2: the answer .* is none of the letters A, B of the options"):
        dataset_from_file(file)


@pytest.mark.parametrize("answer", [None, "", "  ", [], ["Rome", None], {"value": "Rome"}])
def test_a_short_answer_that_nothing_could_equal_is_refused_with_its_line(tmp_path: Path, answer: object) -> None:
    file = jsonl(tmp_path / "qa.jsonl", [{"question": "q", "answer": ["Rome", 5]}, {"question": "r", "answer": answer}])
    with pytest.raises(DataError, match=r"qa\.jsonl:2: the answer .* is neither a text"):
        dataset_from_file(file)
