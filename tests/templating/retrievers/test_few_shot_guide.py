"""Every snippet of docs/few-shot.md works."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from leaderflow.core import registry
from leaderflow.core.load import load_dataset
from leaderflow.core.specs import DatasetSpec, ReaderCfg
from readers.stage import Source, read
from templating.retrieval import needs
from templating.stage import Target, render, retrieve
from tests.templating.retrievers.specs import ids
from tests.templating.retrievers.spelling import spelling

GUIDE = (Path(__file__).parents[3] / "docs" / "few-shot.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml(?: \S+)?\n(.*?)```", GUIDE, re.DOTALL)
INLINE: Sequence[dict[str, Any]] = [YAML(typ="safe").load(text) for text in re.findall(r"`(\{type: \w+Retriever.*?\})`", GUIDE)]


@pytest.fixture
def colours(tmp_path: Path) -> DatasetSpec:
    (tmp_path / "colours").mkdir()
    for split, things in (("train", ["sky", "rose", "grass", "snow", "coal", "sun"]), ("test", ["sea", "blood"])):
        rows = [{"question": f"What colour is {thing}?", "answer": "?", "labels": ["thing"]} for thing in things]
        (tmp_path / "colours" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "colours.yaml").write_text(BLOCKS[0])
    return load_dataset(tmp_path / "colours.yaml")[0]


def test_the_whole_file(colours: DatasetSpec) -> None:
    samples, pool = read(colours, Source(), pool=True)
    examples = retrieve(samples, pool, colours)
    prompts = render(samples, pool, examples, colours, Target(accepts=frozenset({"messages"}), mode="gen"))
    assert [len(json.loads(messages)) for messages in prompts.column("messages").to_pylist()] == [5, 5]


def test_a_recipe_with_examples(tmp_path: Path) -> None:
    (tmp_path / "GSM8K").mkdir()
    for split in ("train", "test"):
        rows = [{"question": f"{split}: {i} + 1?", "answer": f"#### {i + 1}"} for i in range(6)]
        (tmp_path / "GSM8K" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "gsm8k-5.yaml").write_text(BLOCKS[1])
    spec = load_dataset(tmp_path / "gsm8k-5.yaml")[0]
    samples, pool = read(spec, Source(data_dir=tmp_path), pool=True)
    target = Target(accepts=frozenset({"messages"}), mode="gen")
    sent = json.loads(render(samples, pool, retrieve(samples, pool, spec), spec, target).column("messages")[0].as_py())
    assert [message["content"] for message in sent[:2]] == ["train: 0 + 1?", "#### 1"]
    assert len(sent) == 11
    assert sent[-1]["content"] == "test: 0 + 1?"


@pytest.mark.parametrize("retriever", INLINE, ids=lambda retriever: retriever["type"])
def test_each_retriever_of_the_table(colours: DatasetSpec, retriever: dict[str, Any]) -> None:
    spec = colours.model_copy(update={"infer_cfg": colours.infer_cfg.model_copy(update={"retriever": retriever})})
    asked = next(line for line in GUIDE.splitlines() if f"{{type: {retriever['type']}" in line and line.startswith("|")).split("|")[
        3
    ]
    assert needs(spec) == set(re.findall(r"`(\w+)`", asked))
    if "loglikelihood" in needs(spec):
        return
    samples, pool = read(spec, Source(), pool=True)
    wanted = retriever.get("ice_num", retriever.get("k", len(retriever.get("fix_id_list", []))))
    assert [len(found) for found in ids(retrieve(samples, pool, spec, embed=spelling))] == [wanted] * 2


def test_every_retriever_stands_in_the_table() -> None:
    assert {retriever["type"] for retriever in INLINE} == set(registry.known("retriever"))


def test_the_reader_snippet() -> None:
    assert ReaderCfg(**YAML(typ="safe").load(BLOCKS[2])["reader_cfg"]).input_template is not None
