"""Datasets that are just a file: questions with options ``A``, ``B``, … or with a short answer."""

from __future__ import annotations

import re
import string
from pathlib import Path

from leaderflow.core.errors import DataError, UsageError, did_you_mean
from leaderflow.core.specs import DatasetSpec, EvalCfg, InferCfg, ReaderCfg, Typed
from leaderflow.core.types import Json, Row
from readers.files import SUFFIXES, read_file
from readers.record import Record

CHOICE_POSTPROCESSOR = "choice_letter"
"""Reads the letter of an option out of a reply; takes `options`."""
ANSWER_POSTPROCESSOR = "final_answer"
"""Reads a short answer out of a reply that ends with ``Answer: …``."""
NUMBER_POSTPROCESSOR = "final_number"
"""Reads the number out of a reply, without its unit."""

_NUMBER = re.compile(r"[-+−]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?")
_TYPES = {"jsonl": "JsonlDataset", "json": "JsonDataset", "csv": "CsvDataset", "tsv": "CsvDataset", "parquet": "ParquetDataset"}


def is_data_file(name: str) -> bool:
    """Say whether a dataset named on the command line is a data file rather than a recipe."""
    return Path(name).suffix.lower() in SUFFIXES


def dataset_from_file(path: str | Path) -> DatasetSpec:
    """Return a dataset for a file with the columns `question`, ``A``, ``B``, … and `answer`, or `question` and `answer`.

    Options make a multiple-choice dataset whose answer is a letter. Without them the model's short answer must equal the file's, or
    one of its list: as numbers, whatever their form and unit, where all answers of the file are numbers or their texts
    (`NumberMatch`), else as texts (`ExactMatch`).

    Raises:
        DataError: the file cannot be read, or lacks the columns.
        UsageError: the suffix names no format.
    """
    file = Path(path).expanduser()
    if not is_data_file(file.name):
        raise UsageError(f"{file}: a dataset file ends in one of {', '.join(SUFFIXES)}")
    letters = _options(_first(file), str(file))
    _check_answers(file, letters)
    columns, numbers = (
        ["question", *letters],
        not letters and all(_is_number(record.row.get("answer")) for record in read_file(file)),
    )
    return DatasetSpec(
        type=_TYPES[SUFFIXES[file.suffix.lower()]],
        abbr=re.sub(r"[\s:/\\]+", "_", file.stem),
        path=str(file.resolve()),
        reader_cfg=ReaderCfg(input_columns=columns, output_column="answer"),
        infer_cfg=InferCfg(prompt_template=_template(letters), inferencer={"type": "GenInferencer"}),
        eval_cfg=EvalCfg(evaluator=_evaluator(letters, numbers), pred_postprocessor=_postprocessor(letters, numbers)),
        source=str(file),
    )


def _first(file: Path) -> Record:
    record = next(read_file(file), None)
    if record is None:
        raise DataError(f"{file} holds no row")
    return record


def _options(record: Record, name: str) -> str:
    row: Row = record.row
    for column in ("question", "answer"):
        if column not in row:
            have = f"{', '.join(row)}{did_you_mean(column, row)}"
            raise DataError(f"{name}: no column {column!r}; it has {have}; a file with other columns needs a dataset in YAML")
    letters = "".join(letter for letter in string.ascii_uppercase if letter in row)
    if letters and not (len(letters) > 1 and string.ascii_uppercase.startswith(letters)):
        raise DataError(f"{name}: the options must be the columns A, B, C, … without a gap; it has {', '.join(letters)}")
    return letters


def _check_answers(file: Path, letters: str) -> None:
    """See that every answer can be met: the letter of an option (no position, no option's text), or something short.

    Any other row would be scored as wrong whatever the model says.
    """
    for record in read_file(file):
        answer = record.row.get("answer")
        if letters and not (isinstance(answer, str) and len(answer) == 1 and answer in letters):
            raise DataError(f"{record.place}: the answer {answer!r:.60} is none of the letters {', '.join(letters)} of the options")
        if not letters and "answer" in record.row and not _is_answer(answer):
            raise DataError(
                f"{record.place}: the answer {answer!r:.60} is neither a text, a number, true or false, nor a list of those"
            )


def _is_answer(value: Json) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_answer(item) and not isinstance(item, list) for item in value)
    return isinstance(value, int | float) or (isinstance(value, str) and bool(value.strip()))


def _is_number(value: Json) -> bool:
    """Say whether an answer is a number, or the text of one; a leading zero makes it a code."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_number, value))
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _template(letters: str) -> Typed:
    lines = ["{question}", *(f"{letter}. {{{letter}}}" for letter in letters)]
    answer = "the letter of the right option" if letters else "the answer"
    ask = f"Finish with a line of the form `Answer: X`, where X is {answer}."
    return {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": "\n".join([*lines, "", ask])}]}


def _evaluator(letters: str, numbers: bool) -> Typed:
    return {"type": "AccEvaluator" if letters else "NumberMatch" if numbers else "ExactMatch"}


def _postprocessor(letters: str, numbers: bool) -> Typed:
    if letters:
        return {"type": CHOICE_POSTPROCESSOR, "options": letters}
    return {"type": NUMBER_POSTPROCESSOR if numbers else ANSWER_POSTPROCESSOR}
