"""Reads every shipped dataset recipe whose files are there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderflow.core import recipes, registry
from leaderflow.core.artifacts import rows_of
from leaderflow.core.load import load_dataset
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Row
from readers.stage import Source, absent_files, read
from tests.golden import data_dir

PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")


def texts(value: Json) -> Iterator[str]:
    """Yield every text of a template."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def check_templates(spec: DatasetSpec, rows: list[Row]) -> None:
    for template in filter(None, (spec.infer_cfg.prompt_template, spec.infer_cfg.ice_template)):
        used = {name for text in texts(template) for name in PLACEHOLDER.findall(text)}
        for row in rows:
            assert used <= row.keys(), f"{spec.abbr}: {used - row.keys()} is no column of {json.dumps(row)[:200]}"
            assert all(row[name] is not None for name in used), f"{spec.abbr}: an empty column in {json.dumps(row)[:200]}"


def check_labels(spec: DatasetSpec, rows: list[Row]) -> None:
    """The labels of a likelihood recipe cover the references."""
    template = spec.infer_cfg.prompt_template
    if spec.infer_cfg.inferencer["type"] != "PPLInferencer" or template is None:
        return
    assert spec.reader_cfg.output_column is not None
    references = {str(row[spec.reader_cfg.output_column]) for row in rows}
    assert references <= set(map(str, template["template"])), f"{spec.abbr}: {references} are not all labels"


def members(name: str, folder: Path) -> list[DatasetSpec]:
    """Return the datasets of a recipe, those of a shipped file included, whose samples are below the folder."""
    specs = load_dataset(name, data_dir=folder)
    return [spec for spec in specs if not absent_files(spec, Source(folder))]


@pytest.mark.parametrize("name", recipes.names("datasets"))
def test_a_recipe_can_be_read(name: str) -> None:
    folder = data_dir()
    found = members(name, folder)
    if not found:
        pytest.skip(f"the files of {name} are not below {folder}")
    for spec in found:
        registry.check("dataset", {"type": spec.type, **spec.arguments}, handed=frozenset({"dataset", "source"}))
        samples, pool = read(spec, Source(folder, offline=True), pool=True)
        ids = samples.column("sample_id").to_pylist()
        rows = [row for _, row in rows_of(samples)]
        assert len(set(ids)) == len(ids) > 0
        assert pool.num_rows > 0
        check_templates(spec, rows)
        check_labels(spec, rows)
        if (column := spec.reader_cfg.output_column) is not None:
            assert all(row[column] not in (None, "", []) for row in rows), f"{spec.abbr}: a row without a reference"


def test_both_sources_of_a_dataset_give_one_row() -> None:
    mmlu, arc = (recipes.find("datasets", name) for name in ("mmlu_gen", "arc_c_gen"))
    assert mmlu is not None
    assert arc is not None
    from_file = {"question": "2+2?", "A": "3", "B": "4", "C": "5", "D": "6", "answer": "B"}
    from_hub = {"question": "2+2?", "choices": ["3", "4", "5", "6"], "subject": "sums", "answer": 1}
    prepare = _function(mmlu.parent / "mmlu.py", "prepare")
    assert prepare(from_file) == prepare(from_hub)
    numbered = {"id": "x", "question": "q", "choices": {"text": ["a", "b", "c"], "label": ["1", "2", "3"]}, "answerKey": "3"}
    row = _function(arc.parent / "arc.py", "lettered")(numbered)
    assert (row["answer"], row["options"]) == ("C", "A. a\nB. b\nC. c")
    assert _function(arc.parent / "arc.py", "four_options")(numbered) is None


def _function(file: Path, name: str):  # type: ignore[no-untyped-def]
    from readers.prepare import prepare_function
    from tests.readers.make import dataset

    return prepare_function(dataset("x", prepare=f"{file.name}:{name}", source=str(file)))
