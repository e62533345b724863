"""The most used dataset classes of OpenCompass: the same rows, in the same splits, from the files of its data archive.

A class says which file each split is (``{name}`` is the dataset's `name`) and what becomes of a row; the rest is shared
(`readers.archive`). Classes that are not here are run from their own source, where an OpenCompass is at hand (`readers.foreign`).
"""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from leaderflow.core.errors import DataError
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.archive import RecordedDataset
from readers.files import read_file
from readers.record import ONLY, Record, Source


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
