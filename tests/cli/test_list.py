from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leaderflow.core import recipes
from leaderflow.core.catalogue import Entry, datasets, registered, search
from leaderflow.core.errors import SpecError

from .conftest import Cli

ENTRIES = [
    Entry("GSM8K", "Math", None, ["gsm8k"]),
    Entry("GSM-Hard", "Math", None, ["gsm_hard"]),
    Entry("MMLU", "Understanding", None, ["mmlu", "mmlu_ppl"]),
    Entry("CLUE / AFQMC", "Language", None, []),
]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["GSM8K", "GSM-Hard", "MMLU", "CLUE / AFQMC"]),
        (["gsm8k"], ["GSM8K"]),
        (["gsm"], ["GSM-Hard", "GSM8K"]),
        (["math"], ["GSM8K", "GSM-Hard"]),
        (["math", "hard"], ["GSM-Hard"]),
        (["mmlu_ppl"], ["MMLU"]),
        (["afqmc"], ["CLUE / AFQMC"]),
        (["understandng"], ["MMLU"]),
        (["gsm9k"], ["GSM8K"]),
        (["nonsense"], []),
    ],
)
def test_words_find_entries_by_name_family_and_category(words: list[str], names: list[str]) -> None:
    assert [entry.name for entry in search(ENTRIES, words)] == names


def test_list_datasets_and_models(cli: Cli) -> None:
    assert "GSM8K" in cli("list", "datasets").out
    found = cli("list", "datasets", "gsm8k", "--json").json
    assert found[0]["name"] == "GSM8K"
    assert set(found[0]) == {"name", "category", "paper", "recipes"}
    assert "smollm2-135m" in cli("list", "models").out
    assert "no datasets fit 'qqqqqq'" in cli("list", "datasets", "qqqqqq").out
    assert cli("list", "nothing").code == 2


def test_list_what_a_specification_can_name(cli: Cli) -> None:
    found = {row["name"]: row["about"] for row in cli("list", "postprocessors", "--json").json}
    assert "option" in found["choice_letter"]
    assert "BM25Retriever" in cli("list", "retrievers", "bm25").out
    assert {"GenInferencer", "AccEvaluator"} <= {
        row["name"] for what in ("inferencers", "evaluators") for row in cli("list", what, "--json").json
    }


@pytest.mark.parametrize("kind", ["retriever", "inferencer"])
def test_every_name_says_what_it_does(kind: str) -> None:
    assert [entry.name for entry in registered(kind) if not entry.category] == []


def test_the_catalogue_names_recipes_that_exist() -> None:
    known = recipes.names("datasets")
    assert [recipe for entry in datasets() for recipe in entry.recipes if recipe not in known] == []


def test_recipes_of_the_user_are_listed_by_family(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "own" / "datasets" / "ours" / "ours_hard.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("abbr: x\n")
    (path.parent / "_base.yaml").write_text("abbr: y\n")
    monkeypatch.setenv("LEADERFLOW_RECIPES", str(folder / "own"))
    assert cli("list", "datasets", "ours", "--json").json == [
        {"name": "ours", "category": None, "paper": None, "recipes": ["ours_hard"]}
    ]


def test_a_malformed_catalogue_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dataset_index.yml").write_text("datasets:\n  - name: A\n    catgory: b\n")
    monkeypatch.setattr("leaderflow.core.catalogue.data_file", lambda name: tmp_path / name)
    with pytest.raises(SpecError, match=r"dataset_index.yml:3: datasets\[0\].catgory: .*did you mean 'category'"):
        datasets()


@pytest.mark.parametrize("arguments", [["--help"], ["list", "datasets"], ["run", "--help"]])
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['leaderflow', *{arguments!r}]\n"
        "from leaderflow.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "heavy = {'prefect', 'pyarrow', 'datasets', 'torch', 'transformers', 'openai', 'numpy', 'aiohttp', 'flows'}\n"
        "found = heavy & set(sys.modules)\n"
        "assert not found, found\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
