"""The most used dataset classes of OpenCompass: the same rows, in the same splits, from the files of its data archive.

A class says which file each split is (``{name}`` is the dataset's `name`) and what becomes of a row; the rest is shared. Classes
that are not here are run from their own source, where an OpenCompass is at hand (`readers.foreign`).
"""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from leaderflow.core.errors import DataError
from leaderflow.core.opencompass.data import candidates, data_dir
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.files import file_hash, read_file, remedy
from readers.record import ONLY, Record, Source
from readers.text import read_csv


class RecordedDataset:
    """Base: the files of the splits below the path, and the columns of a row.

    Args:
        dataset: the dataset's spec; its `path` is an id such as ``opencompass/gsm8k``, or a path.
        source: where to look.
        file_name: the file below the path, for classes that take one.
        local_mode: has no effect; the path is looked up in the same places.
        num_repeats: how often each row comes, one after the other.
    """

    files: ClassVar[Mapping[str | None, str]]
    columns: ClassVar[Sequence[str] | None] = None
    """Names of the columns of CSV files whose own header, if there is one, is not used."""
    header: ClassVar[bool] = False
    """Whether the first line of a CSV file with `columns` is its header."""

    def __init__(
        self, dataset: DatasetSpec, source: Source, file_name: str | None = None, local_mode: bool = False, num_repeats: int = 1
    ) -> None:
        self.dataset, self.source, self.file_name, self.num_repeats = dataset, source, file_name, num_repeats

    def row(self, row: Row, split: str | None) -> Row | None:
        """Return the row as the class gives it, or None where it leaves it out."""
        return row

    def splits(self) -> Sequence[str | None]:
        """Return the splits of the class."""
        return list(self.files)

    def records(self, split: str | None) -> list[Record]:
        """Return the rows of a split."""
        found = []
        for record in self.read(self._file(split)):
            try:
                row = self.row(record.row, split)
            except (KeyError, IndexError, TypeError, ValueError, SyntaxError) as exc:
                name = type(self).__name__
                raise DataError(f"{record.place}: the row is not as {name} expects it: {type(exc).__name__}: {exc}") from exc
            found += [Record(row, record.place)] * self.num_repeats if row is not None else []
        return found

    def read(self, file: Path) -> Iterator[Record]:
        """Yield the rows of a file."""
        if self.columns is None:
            yield from read_file(file, default="jsonl")
            return
        rows = read_csv(file, self.columns)
        if self.header:
            next(rows, None)
        yield from rows

    def fingerprint(self) -> Json:
        """Return the hashes of the files that are there."""
        paths = {split or "": self._places(split) for split in self.files}
        return {split: file_hash(path) for split, places in paths.items() if (path := _first(places))}

    def _file(self, split: str | None) -> Path:
        places = self._places(split)
        if found := _first(places):
            return found
        looked = " and ".join(map(str, places[:2]))
        raise DataError(f"dataset {self.dataset.abbr!r}: no file {looked}; {remedy(self.source)}")

    def _places(self, split: str | None) -> list[Path]:
        inner = self.files[split].format(name=self.dataset.name, file_name=self.file_name)
        with data_dir(self.source.data_dir):
            return [place / inner if inner else place for place in candidates(self.dataset.path or "")]


class GSM8KDataset(RecordedDataset):
    """GSM8K as its authors give it."""

    files: ClassVar = {"train": "train.jsonl", "test": "test.jsonl"}


class MATHDataset(RecordedDataset):
    """MATH: one JSON object of problems; the solution is what its last box holds, and both splits are the whole file."""

    files: ClassVar = {"test": "{file_name}", "train": "{file_name}"}

    def __init__(self, dataset: DatasetSpec, source: Source, file_name: str = "math.json", **arguments: Json) -> None:
        super().__init__(dataset, source, file_name)

    def read(self, file: Path) -> Iterator[Record]:
        """Yield the problems in the order of the object."""
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as exc:
            raise DataError(f"{file} is not JSON: {exc}") from None
        yield from (Record(dict(row), f"{file}: {key}") for key, row in found.items())

    def row(self, row: Row, split: str | None) -> Row:
        """Keep problem and boxed answer."""
        return {"problem": row["problem"], "solution": boxed(row["solution"])}


class HumanevalDataset(RecordedDataset):
    """HumanEval as its authors give it."""

    files: ClassVar = {ONLY: ""}


class MMLUDataset(RecordedDataset):
    """MMLU, one subject: six columns without a header."""

    files: ClassVar = {"dev": "dev/{name}_dev.csv", "test": "test/{name}_test.csv"}
    columns: ClassVar = ("input", "A", "B", "C", "D", "target")

    def __init__(self, dataset: DatasetSpec, source: Source, **arguments: Json) -> None:
        super().__init__(dataset, source)


class CEvalDataset(RecordedDataset):
    """C-Eval, one subject; rows of the test split have no answer."""

    files: ClassVar = {split: f"{split}/{{name}}_{split}.csv" for split in ("dev", "val", "test")}

    def row(self, row: Row, split: str | None) -> Row:
        """Give every row an answer and an explanation."""
        return {**row, "explanation": row.get("explanation", ""), "answer": row.get("answer", "")}


class CMMLUDataset(RecordedDataset):
    """CMMLU, one subject: a numbered table."""

    files: ClassVar = {"dev": "dev/{name}.csv", "test": "test/{name}.csv"}
    columns: ClassVar = ("number", "question", "A", "B", "C", "D", "answer")
    header: ClassVar = True

    def __init__(self, dataset: DatasetSpec, source: Source, **arguments: Json) -> None:
        super().__init__(dataset, source)

    def row(self, row: Row, split: str | None) -> Row:
        """Drop the number."""
        return {column: value for column, value in row.items() if column != "number"}


class ARCDataset(RecordedDataset):
    """ARC: questions that have four options; the answer is a letter whatever the options' labels are."""

    files: ClassVar = {ONLY: ""}

    def row(self, row: Row, split: str | None) -> Row | None:
        """Lay the options out as textA to textD."""
        options = row["question"]["choices"]
        if len(options) != 4:
            return None
        answer = "ABCD"[[option["label"] for option in options].index(row["answerKey"])]
        texts = {f"text{letter}": option["text"] for letter, option in zip("ABCD", options, strict=True)}
        return {"question": row["question"]["stem"], "answerKey": answer, **texts}


class HellaswagDataset(RecordedDataset):
    """HellaSwag: the context without its activity, four endings, the number of the right one."""

    files: ClassVar = {ONLY: ""}
    _cuts: ClassVar = 2

    def row(self, row: Row, split: str | None) -> Row:
        """Lay the endings out as A to D."""
        endings = dict(zip("ABCD", row["choices"][:4], strict=True))
        return {"ctx": row["query"].split(": ", self._cuts)[-1], **endings, "label": row["gold"]}


class HellaswagDataset_V2(HellaswagDataset):
    """HellaSwag with the letter of the right ending."""

    _cuts: ClassVar = 1

    def row(self, row: Row, split: str | None) -> Row:
        """Lay the endings out as A to D."""
        found = super().row(row, split)
        return {**found, "label": "ABCD"[found["label"]]}


class BBHDataset(RecordedDataset):
    """BIG-Bench Hard, one task."""

    files: ClassVar = {ONLY: "{name}.json"}

    def read(self, file: Path) -> Iterator[Record]:
        """Yield the task's examples."""
        yield from read_file(file, default="json", field="examples")


class RaceDataset(RecordedDataset):
    """RACE, middle or high."""

    files: ClassVar = {"validation": "validation/{name}.jsonl", "test": "test/{name}.jsonl"}

    def row(self, row: Row, split: str | None) -> Row:
        """Lay the options out as A to D."""
        options = dict(zip("ABCD", row["options"], strict=True))
        return {"article": row["article"], "question": row["question"], **options, "answer": row["answer"]}


class commonsenseqaDataset(RecordedDataset):
    """CommonsenseQA as its authors give it."""

    files: ClassVar = {"train": "train_rand_split.jsonl", "validation": "dev_rand_split.jsonl"}

    def row(self, row: Row, split: str | None) -> Row:
        """Lay the options out as A to E."""
        options = {letter: option["text"] for letter, option in zip("ABCDE", row["question"]["choices"], strict=True)}
        return {"question": row["question"]["stem"], **options, "answerKey": row["answerKey"]}


class OBQADataset(RecordedDataset):
    """OpenBookQA as its authors give it."""

    files: ClassVar = {ONLY: ""}

    def row(self, row: Row, split: str | None) -> Row:
        """Lay the options out as A to D."""
        options = {letter: option["text"] for letter, option in zip("ABCD", row["question"]["choices"], strict=True)}
        fact = {"fact1": row["fact1"]} if "fact1" in row else {}
        return {**options, "question_stem": self.stem(row["question"]["stem"]), "answerKey": row["answerKey"], **fact}

    def stem(self, text: str) -> str:
        """Return the question as it is shown."""
        return text


class OBQADatasetV2(OBQADataset):
    """OpenBookQA with every stem made a question."""

    def stem(self, text: str) -> str:
        """Return the question as it is shown."""
        return text if text.endswith("?") else f"{text} what?"


class WinograndeDataset(RecordedDataset):
    """WinoGrande: both sentences, what follows the blank, the number of the right option."""

    files: ClassVar = {ONLY: "dev.jsonl"}

    def row(self, row: Row, split: str | None) -> Row:
        """Fill the blank with either option."""
        prompt, one, two = row["sentence"], row["option1"], row["option2"]
        filled = {"opt1": prompt.replace("_", one), "opt2": prompt.replace("_", two)}
        answer = self.answer(row["answer"])
        return {
            "prompt": prompt,
            "only_option1": one,
            "only_option2": two,
            **filled,
            "answer": answer,
            "cont": prompt.split("_")[1],
        }

    def answer(self, value: str) -> str:
        """Return the answer as the class gives it."""
        return value


class WinograndeDatasetV2(WinograndeDataset):
    """WinoGrande with the letter of the right option."""

    def answer(self, value: str) -> str:
        """Return the letter; a row without answer gives ``NULL``."""
        return " AB"[int(value)] if value != "" else "NULL"


class WinograndeDatasetV3(WinograndeDatasetV2):
    """WinoGrande with letters and a small train split."""

    files: ClassVar = {"train_xs": "train_xs.jsonl", "dev": "dev.jsonl"}


class TriviaQADataset(RecordedDataset):
    """TriviaQA as tables of question and answers; a test row keeps its first answer."""

    files: ClassVar = {"dev": "trivia-dev.qa.csv", "test": "trivia-test.qa.csv"}
    _first: ClassVar = "test"

    def read(self, file: Path) -> Iterator[Record]:
        """Yield the two columns of the table."""
        with file.open(encoding="utf-8", newline="") as lines:
            for number, (question, answer) in enumerate(csv.reader(lines, delimiter="\t"), 1):
                yield Record({"question": question, "answer": answer}, f"{file}:{number}")

    def row(self, row: Row, split: str | None) -> Row:
        """Read the list of answers."""
        answers = ast.literal_eval(row["answer"])
        return {"question": row["question"], "answer": answers[0] if split == self._first else answers}


class NaturalQuestionDataset(TriviaQADataset):
    """Natural Questions as tables of question and answers; a dev row keeps its first answer."""

    files: ClassVar = {"dev": "nq-dev.qa.csv", "test": "nq-test.qa.csv"}
    _first: ClassVar = "dev"


class TriviaQADatasetV2(RecordedDataset):
    """TriviaQA as JSON lines."""

    files: ClassVar = {"validation": "triviaqa-validation.jsonl", "train": "triviaqa-train.jsonl"}


class NQOpenDataset(RecordedDataset):
    """Natural Questions, open domain; a train row keeps its first answer."""

    files: ClassVar = {"validation": "nq-open-validation.jsonl", "train": "nq-open-train.jsonl"}

    def row(self, row: Row, split: str | None) -> Row:
        """Cut the train answers."""
        return {**row, "answer": row["answer"][0]} if split == "train" else row


class BoolQDatasetV2(RecordedDataset):
    """BoolQ: true is A, false is B."""

    files: ClassVar = {ONLY: ""}

    def row(self, row: Row, split: str | None) -> Row:
        """Name the label by its letter."""
        return {**row, "label": {"true": "A", "false": "B"}[row["label"]]}


class Aime2024Dataset(RecordedDataset):
    """AIME problems under the names question and answer, too."""

    files: ClassVar = {ONLY: ""}

    def __init__(self, dataset: DatasetSpec, source: Source, **arguments: Json) -> None:
        super().__init__(dataset, source)

    def row(self, row: Row, split: str | None) -> Row:
        """Add both columns."""
        return {**row, "question": row["origin_prompt"], "answer": row["gold_answer"]}


class CustomDataset(RecordedDataset):
    """Any JSONL or CSV file."""

    files: ClassVar = {ONLY: "{file_name}"}

    def __init__(self, dataset: DatasetSpec, source: Source, file_name: str = "", local_mode: bool = False) -> None:
        super().__init__(dataset, source, file_name)


def boxed(text: str) -> str | None:
    r"""Return what the last ``\\boxed{…}`` of a solution holds, braces balanced; None without one (as recorded)."""
    start = text.rfind("\\boxed")
    inside, depth = start + len("\\boxed{"), 0
    if start < 0 or not text.startswith("\\boxed{", start):
        return None
    for at in range(inside - 1, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[inside:at]
    return None


def _first(places: Sequence[Path]) -> Path | None:
    return next((place for place in places if place.is_file()), None)
