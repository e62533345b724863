"""Reads every shipped dataset recipe whose files are there."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from leaderflow.core import recipes, registry
from leaderflow.core.artifacts import rows_of
from leaderflow.core.load import load_dataset
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Capability
from readers.prepare import Prepare, prepare_function
from readers.stage import Source, absent_files, read
from templating import stage
from tests.golden import data_dir
from tests.readers.make import dataset

SHOWN = 20
"""How many samples of each dataset are rendered."""


def check_prompts(spec: DatasetSpec, samples: pa.Table, pool: pa.Table) -> None:
    """Every placeholder has a value, every reference is a label, and no prompt is empty."""
    ppl = spec.infer_cfg.inferencer["type"] == "PPLInferencer"
    accepts: frozenset[Capability] = frozenset({"text", "messages", "generate", "loglikelihood"})
    target = stage.Target(accepts=accepts, mode="ppl" if ppl else "gen")
    stage.check(spec, target, key=spec.abbr)
    labels = stage.labels(spec, samples, None) if ppl else None
    shown = samples.slice(0, SHOWN)
    prompts = stage.render(shown, pool, stage.retrieve(shown, pool, spec), spec, target, labels=labels)
    assert prompts.num_rows == shown.num_rows * len(labels or [None])
    for prompt in prompts.to_pylist():
        assert prompt["status"] == "ok"
        assert prompt["text"] or prompt["messages"]


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
        check_prompts(spec, samples, pool)
        if (column := spec.reader_cfg.output_column) is not None:
            assert all(row[column] not in (None, "", []) for row in rows), f"{spec.abbr}: a row without a reference"


@pytest.mark.parametrize("name", recipes.names("datasets"))
def test_the_members_of_a_recipe_have_names(name: str) -> None:
    """A name that YAML folded over two lines has a blank in it, and its file is never found."""
    assert all(re.fullmatch(r"[\w.+-]+", spec.abbr) for spec in load_dataset(name))


def test_both_sources_of_gpqa_give_the_same_prompt() -> None:
    path = recipes.find("datasets", "gpqa_diamond")
    assert path is not None
    prepare = _function(path.parent / "gpqa.py", "prepare")
    from_hub = prepare({"Question": "Which?\n", "Correct Answer": "1 ", **{f"Incorrect Answer {n}": str(n + 1) for n in (1, 2, 3)}})
    assert from_hub is not None
    lines = "\n".join(f"{letter}) {from_hub[letter]}\n" for letter in "ABCD")
    assert prepare({"question": f"Which?\n\n{lines}", "answer": from_hub["answer"]}) == from_hub


def test_chinese_questions_of_agieval_are_asked_in_chinese() -> None:
    path = recipes.find("datasets", "agieval")
    assert path is not None
    prepare = _function(path.parent / "agieval.py", "prepare")
    asked = [
        prepare({"passage": None, "question": text, "options": ["(A)1", "(B)2"], "label": "A"}) for text in ("几？", "How many?")
    ]
    assert [row["instruction"][:7] for row in asked if row] == ["以上选项中只有", "Exactly"]


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


def _function(file: Path, name: str) -> Prepare:
    found = prepare_function(dataset("x", prepare=f"{file.name}:{name}", source=str(file)))
    assert found is not None
    return found
