"""The commands that look at finished runs, from the command line to the exit code."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fake_openai import FakeOpenAI

from .conftest import REPLIES, RUN, Cli

SIZE = 120
DATASETS = [f"set{d}" for d in range(6)]
MODELS = {"base": 0, "same": 0, "better": 40, "worse": -40}
"""Model → how many more answers it has right than ``base`` (on every dataset but set5)."""


def right(model: str, dataset: int, i: int) -> bool:
    """Say whether a model's answer i is right: the first ones are, of some models more or fewer than of others."""
    gain = 0 if dataset == 5 else MODELS[model]
    return i < 50 + 2 * dataset + gain


def dataset_file(folder: Path, d: int) -> dict[str, Any]:
    rows = [{"question": f"task {d} number {i}.", "answer": "yes"} for i in range(SIZE)]
    path = folder / f"set{d}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "type": "JsonlDataset",
        "abbr": f"set{d}",
        "path": str(path),
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": "{question}"}]},
            "inferencer": {"type": "GenInferencer", "max_out_len": 8},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }


@pytest.fixture
def truths(fake_openai: FakeOpenAI, folder: Path) -> Path:
    """A spec of 4 models × 6 datasets, the server's answers being known."""
    answers = [
        {"replies": [{"content": "yes"}], "contains": f"task {d} number {i}.", "model": model}
        for model in MODELS
        for d in range(6)
        for i in range(SIZE)
        if right(model, d, i)
    ]
    fake_openai.script(rules=answers, reply="no")
    models = [
        {"type": "OpenAISDK", "abbr": m, "path": m, "openai_api_base": fake_openai.base_url, "batch_size": 64, "revision": "1"}
        for m in MODELS
    ]
    groups = [
        {"name": "all", "subsets": DATASETS},
        {"name": "heavy", "subsets": ["set0", "set5"], "weights": {"set0": 1, "set5": 3}},
        {"name": "both", "subsets": ["all", "heavy"]},
        {"name": "lacking", "subsets": ["set0", "set9"]},
    ]
    spec = {
        "models": models,
        "datasets": [dataset_file(folder, d) for d in range(6)],
        "summarizer": {"summary_groups": groups, "dataset_abbrs": ["all", *DATASETS, "heavy", "both", "lacking"]},
        "suite": "truths",
    }
    path = folder / "truths.json"
    path.write_text(json.dumps(spec))
    return path


def known(model: str, name: str) -> float | None:
    """Return what the leaderboard must say."""
    if name.startswith("set"):
        return 100 * sum(right(model, int(name[3:]), i) for i in range(SIZE)) / SIZE
    own = {d: known(model, d) or 0.0 for d in DATASETS}
    heavy, mean = (own["set0"] + 3 * own["set5"]) / 4, sum(own.values()) / 6
    return {"all": mean, "heavy": heavy, "both": (mean + heavy) / 2, "lacking": None}[name]


def test_four_models_and_six_datasets_of_known_truth(cli: Cli, truths: Path) -> None:
    ran = cli("run", str(truths), "--no-server", "--json")
    assert ran.code == 0, ran.err
    found = {(cell["model"], cell["dataset"]): cell for cell in ran.json["cells"]}
    names = ["all", *DATASETS, "heavy", "both", "lacking"]
    assert list(dict.fromkeys(cell["dataset"] for cell in ran.json["cells"])) == names
    for model in MODELS:
        for name in names:
            wanted = known(model, name)
            assert found[model, name]["value"] == (wanted if wanted is None else pytest.approx(wanted)), (model, name)
    assert found["base", "lacking"]["note"] == "1 of 2 members, missing: set9"
    assert found["base", "all"]["n"] == 6 * SIZE

    verdicts = {"same": "no difference shown", "better": "better", "worse": "worse"}
    for model, verdict in verdicts.items():
        ran = cli("compare", "latest:base", f"latest:{model}", "--json")
        cells = {cell["dataset"]: cell for cell in ran.json["comparisons"][0]["cells"]}
        wanted_verdicts = dict.fromkeys(DATASETS, verdict) | {"set5": "no difference shown"}
        assert {name: cell["verdict"] for name, cell in cells.items()} == wanted_verdicts
        change = "wrong→right" if model == "better" else "right→wrong"
        assert cells["set0"]["changes"] == ({} if model == "same" else {change: 40})
        assert {flip["row"]["question"] for flip in cells["set0"]["flips"]} == {
            f"task 0 number {i}." for i in range(SIZE) if right("base", 0, i) != right(model, 0, i)
        }
        assert ran.code == (4 if model == "worse" else 0)
    everything = cli("compare", "latest:base", "latest:same", "latest:better", "latest:worse", "--json")
    assert (everything.code, len(everything.json["comparisons"]), len(everything.json["regressions"])) == (4, 3, 5)
    (best,) = cli("history", "all", "--suite", "truths", "--json").json["best"]
    assert (best["model"], best["runs"]) == ("better", 4)


def test_compare_prints_texts_as_they_are_and_ends_with_4(cli: Cli, folder: Path) -> None:
    (folder / "right.yaml").write_text(json.dumps({"type": "Scripted", "abbr": "right", "path": "s", "reply": "[/]"}))
    other = ["run", "-m", "right.yaml", "-d", "replies.yaml", "--no-server"]
    assert cli(*other).code == 0
    assert cli(*RUN).code == 0
    ran = cli("compare", "latest~1", "latest", "-n", "7")
    assert ran.code == 4
    assert "significantly worse by more than 0 on 1 of 1 cells: scripted:replies -85.71" in ran.err
    assert REPLIES[0] in ran.out
    assert r"\x1b]0;owned\x07" in ran.out
    assert "\x1b" not in ran.out
    assert 'specs      models.abbr: "right" != "scripted"' in ran.out
    assert "6 right→wrong" in ran.out
    assert cli("compare", "latest~1", "latest", "--threshold", "90").code == 0
    assert cli("compare", "latest", "latest~1").code == 0
    assert cli("compare", "latest").code == 2


def test_unknown_names_and_statements_that_write_are_one_line(cli: Cli) -> None:
    assert "no finished run" in cli("history", "scripted").err
    cli(*RUN)
    for arguments, says in [
        (("compare", "latest", "nope"), "no run named 'nope'"),
        (("compare", "latest", "latest:scriptde"), "did you mean 'scripted'"),
        (("history", "replise"), "did you mean 'replies'"),
        (("sql", "DELETE FROM runs"), "the store is only read: DELETE is refused"),
        (("sql", "SELECT * FROM smaples"), "did you mean 'samples'"),
        (("sql", "SELECT cell FROM samples"), "`leaderflow sql 'DESCRIBE samples'` lists the columns"),
    ]:
        ran = cli(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert says in ran.err


def test_history_and_sql(cli: Cli) -> None:
    cli(*RUN)
    cli(*RUN, "--limit", "3")
    assert len(cli("history", "replies", "--json").json["rows"]) == 2
    assert "… and 1 older results" in cli("history", "scripted", "-n", "1").out
    assert cli("sql", "SELECT count(*) AS n FROM samples", "--json").json == [{"n": 10}]
    assert cli("sql", "SELECT started FROM runs LIMIT 1", "--json").json[0]["started"].startswith("20")
    text = cli("sql", "SELECT output FROM answers", "--run", "latest~1").out
    assert REPLIES[1] in text
    assert "\x1b" not in text


def test_a_transform_that_is_no_expression_is_refused_before_anything(cli: Cli, folder: Path) -> None:
    spec = {
        "models": ["model.yaml"],
        "datasets": ["replies.yaml"],
        "summarizer": {"summary_groups": [{"name": "g", "subsets": ["replies"], "transforms": {"replies": "__import__('os')"}}]},
    }
    (folder / "bad.yaml").write_text(json.dumps(spec))
    ran = cli("run", "bad.yaml", "--no-server")
    assert ran.code == 2
    assert "bad.yaml:1: summarizer.summary_groups[0].transforms" in ran.err
    assert "is not an expression in x" in ran.err
    assert not (folder / "home" / "store" / "runs").exists()


def test_leaderboards_as_csv_and_markdown(cli: Cli) -> None:
    cli(*RUN)
    (row,) = csv.DictReader(io.StringIO(cli("show", "--format", "csv").out))
    assert (row["model"], row["dataset"], row["metric"], row["n"]) == ("scripted", "replies", "accuracy", "7")
    lines = cli("show", "--format", "md").out.splitlines()
    assert lines[0] == "| dataset | version | metric | mode | scripted |"
    assert lines[1].endswith("| ---: |")
    assert lines[2].startswith("| replies |")
    assert cli("show", "--format", "json").json["cells"][0]["dataset"] == "replies"
