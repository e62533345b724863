"""The dataset classes that carry names of OpenCompass, on small files in the layout of its data archive."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import DataError
from leaderflow.core.names import DATASETS
from leaderflow.core.registry import resolve
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.opencompass import boxed
from readers.record import Source

FOUR = [{"text": f"t{i}", "label": label} for i, label in enumerate("ABCD")]
NUMBERED = [{"text": f"t{i}", "label": str(i + 1)} for i in range(4)]
ABCD = {letter: f"t{i}" for i, letter in enumerate("ABCD")}
TEXTS = {f"text{letter}": f"t{i}" for i, letter in enumerate("ABCD")}
BLANK = {"sentence": "A _ b.", "option1": "x", "option2": "y", "answer": "2"}
FILLED = {
    "prompt": "A _ b.",
    "only_option1": "x",
    "only_option2": "y",
    "opt1": "A x b.",
    "opt2": "A y b.",
    "answer": "B",
    "cont": " b.",
}

CASES: list[tuple[str, str, dict[str, Any], dict[str, Json], dict[str | None, list[Row]]]] = [
    ("GSM8KDataset", "gsm8k", {}, {"train.jsonl": [{"q": 1}], "test.jsonl": [{"q": 2}]}, {"train": [{"q": 1}], "test": [{"q": 2}]}),
    (
        "MMLUDataset", "mmlu", {"name": "law"},
        {"dev/law_dev.csv": [["q, x", *"1234", "A"]], "test/law_test.csv": [["r", *"1234", "B"]]},
        {"dev": [{"input": "q, x", "A": "1", "B": "2", "C": "3", "D": "4", "target": "A"}],
         "test": [{"input": "r", "A": "1", "B": "2", "C": "3", "D": "4", "target": "B"}]},
    ),
    (
        "CEvalDataset", "ceval", {"name": "law"},
        {f"{s}/law_{s}.csv": [["id", "question"], ["0", "q"]] for s in ("dev", "val", "test")},
        {s: [{"id": "0", "question": "q", "explanation": "", "answer": ""}] for s in ("dev", "val", "test")},
    ),
    (
        "CMMLUDataset", "cmmlu", {"name": "law"},
        {f"{s}/law.csv": [["", "Question", *"ABCD", "Answer"], ["0", "q", *"1234", "A"]] for s in ("dev", "test")},
        {s: [{"question": "q", "A": "1", "B": "2", "C": "3", "D": "4", "answer": "A"}] for s in ("dev", "test")},
    ),
    (
        "ARCDataset", "arc.jsonl", {}, {"": [{"question": {"stem": "s", "choices": FOUR[:3]}, "answerKey": "A"},
                                            {"question": {"stem": "s", "choices": NUMBERED}, "answerKey": "4"}]},
        {None: [{"question": "s", "answerKey": "D", **TEXTS}]},
    ),
    (
        "HellaswagDataset_V2", "hs.jsonl", {}, {"": [{"query": "Act: He: went", "choices": ["t0", "t1", "t2", "t3"], "gold": 2}]},
        {None: [{"ctx": "He: went", **ABCD, "label": "C"}]},
    ),
    ("BBHDataset", "bbh", {"name": "t"}, {"t.json": {"canary": "x", "examples": [{"input": "i"}]}}, {None: [{"input": "i"}]}),
    ("WinograndeDatasetV2", "w", {}, {"dev.jsonl": [BLANK]}, {None: [FILLED]}),
    (
        "TriviaQADataset", "t", {}, {f"trivia-{s}.qa.csv": [['say "x"?', "['a', 'b']"]] for s in ("dev", "test")},
        {"dev": [{"question": 'say "x"?', "answer": ["a", "b"]}], "test": [{"question": 'say "x"?', "answer": "a"}]},
    ),
    (
        "MATHDataset", "math", {}, {"math.json": {"0": {"problem": "p", "solution": r"so \boxed{\frac{1}{2}}."}}},
        {s: [{"problem": "p", "solution": r"\frac{1}{2}"}] for s in ("test", "train")},
    ),
    ("HumanevalDataset", "he.jsonl", {"num_repeats": 2}, {"": [{"task_id": "0"}]}, {None: [{"task_id": "0"}] * 2}),
    ("CustomDataset", "c", {"file_name": "x.csv"}, {"x.csv": [["a", "b"], ["1", "2"]]}, {None: [{"a": "1", "b": "2"}]}),
    (
        "OBQADatasetV2", "obqa.jsonl", {}, {"": [{"question": {"stem": "It is", "choices": FOUR}, "answerKey": "C"}]},
        {None: [{**ABCD, "question_stem": "It is what?", "answerKey": "C"}]},
    ),
]  # fmt: skip


def write(file: Path, content: Json) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        file.write_text(json.dumps(content))
    elif isinstance(content[0], dict):
        file.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        with file.open("w", newline="") as out:
            csv.writer(out, delimiter="\t" if file.name.endswith(".qa.csv") else ",").writerows(content)


def reader(kind: str, path: str, source: Source, name: str | None = None, **arguments: Json) -> Any:
    spec = DatasetSpec.model_validate(
        {
            "type": kind, "abbr": "x", "path": path, "name": name, "reader_cfg": {"input_columns": ["q"]},
            "infer_cfg": {"prompt_template": {}, "inferencer": {}}, "eval_cfg": {"evaluator": {}},
        }
    )  # fmt: skip
    return resolve("dataset", kind)(spec, source, **arguments)


@pytest.mark.parametrize(("kind", "path", "arguments", "files", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_rows(
    kind: str, path: str, arguments: dict[str, Any], files: dict[str, Json], wanted: dict[str | None, list[Row]], tmp_path: Path
) -> None:
    for name, content in files.items():
        write(tmp_path / path / name if name else tmp_path / path, content)
    found = reader(kind, f"./data/{path}", Source(tmp_path), **arguments)
    assert {split: [record.row for record in found.records(split)] for split in found.splits()} == wanted
    assert found.fingerprint() == reader(kind, str(tmp_path / path), Source(), **arguments).fingerprint() != {}


def test_ids_are_paths_of_the_data_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADERFLOW_OPENCOMPASS", raising=False)
    write(tmp_path / "data/ARC/ARC-c/ARC-Challenge-Dev.jsonl", CASES[4][3][""])
    monkeypatch.setenv("COMPASS_DATA_CACHE", str(tmp_path))
    assert len(reader("ARCDataset", "opencompass/ai2_arc-dev", Source()).records(None)) == 1
    with pytest.raises(DataError, match=r"no file .*gsm8k/train\.jsonl"):
        reader("GSM8KDataset", "opencompass/gsm8k", Source(tmp_path)).records("train")


def test_a_row_of_another_shape_is_refused_at_its_line(tmp_path: Path) -> None:
    write(tmp_path / "arc.jsonl", [{"id": 1}])
    with pytest.raises(DataError, match=r"arc\.jsonl:1: the row is not as ARCDataset expects it: KeyError: 'question'"):
        reader("ARCDataset", "arc.jsonl", Source(tmp_path)).records(None)


def test_boxed_answers() -> None:
    texts = [r"\boxed{1} and \boxed{x{y}}.", r"\boxed 3", r"\fbox{3}", r"\boxed{3", "none"]
    assert [boxed(text) for text in texts] == ["x{y}", None, None, None, None]


def test_every_class_is_registered() -> None:
    from readers import opencompass

    own = {
        name
        for name, found in vars(opencompass).items()
        if isinstance(found, type) and issubclass(found, opencompass.RecordedDataset)
    }
    assert own - {"RecordedDataset"} == {name for name, target in DATASETS.items() if target.startswith("readers.opencompass:")}
