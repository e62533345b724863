from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderflow.core.errors import UsageError
from leaderflow.core.overrides import shorthand

from .conftest import DATASET, RUN, Cli


def test_a_run_prints_one_json_object(cli: Cli) -> None:
    ran = cli(*RUN, "--json")
    assert ran.code == 0, ran.err
    assert {"run", "state", "cells", "tasks", "requests", "seconds", "errors", "manifest"} <= set(ran.json)
    (cell,) = ran.json["cells"]
    assert (cell["model"], cell["dataset"], cell["n"], cell["n_failed"]) == ("scripted", "replies", 7, 0)
    assert ran.json["requests"]["sent"] == 7


def test_a_person_sees_the_table_the_places_and_what_next(cli: Cli) -> None:
    ran = cli(*RUN)
    assert ran.code == 0
    assert "replies" in ran.out
    assert "scripted" in ran.out
    assert "manifest.json" in ran.out
    assert "leaderflow show" in ran.out
    assert "leaderflow trace" in ran.out


def test_the_manifest_runs_again_and_asks_nothing(cli: Cli) -> None:
    first = cli(*RUN, "--json").json
    again = cli("run", first["manifest"], "--no-server", "--json")
    assert again.code == 0, again.err
    assert again.json["requests"]["sent"] == 0
    assert again.json["cells"] == first["cells"]


def test_short_options_choose_samples_and_repeats(cli: Cli) -> None:
    assert cli(*RUN, "--limit", "2", "--json").json["cells"][0]["n"] == 2
    assert cli(*RUN, "--range", "[2:5]", "--json").json["cells"][0]["n"] == 3
    assert cli(*RUN, "--limit", "2", "--repeats", "3", "--json").json["cells"][0]["n"] == 6
    assert cli(*RUN, "--set", "reader_cfg.test_range=[0, 3]", "--json").json["cells"][0]["n"] == 2


def test_a_dry_run_writes_nothing(cli: Cli, folder: Path) -> None:
    ran = cli(*RUN, "--dry-run", "--json")
    assert ran.code == 0
    assert (ran.json["requests"], ran.json["answered"], ran.json["to_ask"]) == (7, 0, 7)
    assert not (folder / "home" / "store").exists()
    cli(*RUN, "--limit", "3")
    assert "3 already answered, 4 to ask" in cli(*RUN, "--dry-run").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "-m", "model.yaml", "-d", "gsm8kk"), "there is no dataset recipe 'gsm8kk'"),
        (("run", "-m", "model.yaml", "-d", "gsm8k_gen"), "did you mean 'gsm8k'?"),
        (("run", "-m", "model.yaml", "-d", "mmlu"), "did you mean 'mmlu_gen' or 'mmlu_ppl'?"),
        (("run", "-m", "model.yaml", "-d", "arc_challenge"), "did you mean 'arc_c_gen' or 'arc_c_ppl'?"),
        (("run", "-m", "model.yaml", "-d", "cmmlu_agronmy"), "did you mean 'cmmlu_agronomy'?"),
        (("run", "-m", "gpt-4o", "-d", "replies.yaml"), "a model behind an API is openai/NAME"),
        (("run", "-m", "smollm2-135", "-d", "replies.yaml"), "did you mean 'smollm2-135m'"),
        (("run",), "no model is named"),
        ((*RUN, "--num_fewshot", "5"), "No such option: --num_fewshot; examples belong to the recipe"),
        ((*RUN, "--epochs", "4"), "No such option: --epochs; that is --repeats"),
        ((*RUN, "--limt", "4"), "No such option: --limt (Possible options: --limit)"),
        (("run", "absent.yaml"), "absent.yaml: there is no such file"),
        (
            (*RUN, "--set", "infer_cfg.inferencer.max_out_le=3"),
            "--set infer_cfg.inferencer.max_out_le: GenInferencer has no argument 'max_out_le'; did you mean 'max_out_len'",
        ),
        ((*RUN, "--set", "models.scripted.key=sk-1234567890abcdefghij"), "a key must not stand in a spec"),
        ((*RUN, "--range", "[:5]; import os"), "test_range"),
        ((*RUN, "--range", "[0:2]+[5:7]"), "test_range"),
        ((*RUN, "--range", "[7:9]"), ""),
        ((*RUN, "--limit", "2", "--range", "[:2]"), "exclude each other"),
        ((*RUN, "--data-dir", "nowhere"), "no data directory"),
        (("run", "-m", "model.yaml", "-d", "broken.yaml"), "broken.yaml:3"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(cli: Cli, folder: Path, arguments: tuple[str, ...], says: str) -> None:
    (folder / "broken.yaml").write_text(DATASET.replace("path:", "paht:"))
    ran = cli(*arguments)
    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err.startswith("leaderflow: ")
    assert ran.err.count("\n") == 1
    assert says in ran.err
    assert "sk-" not in ran.err
    assert not list(folder.glob("home/store/runs/*"))


def test_a_bad_line_names_file_and_line(cli: Cli, folder: Path) -> None:
    (folder / "replies.jsonl").write_text('{"question": "a", "answer": "b"}\nnot json\n')
    ran = cli(*RUN)
    assert ran.code == 2
    assert "replies.jsonl" in ran.err
    assert "2" in ran.err.split("replies.jsonl", 1)[1]


def test_debug_shows_the_trace(cli: Cli) -> None:
    ran = cli("run", "-m", "model.yaml", "-d", "nothing", "--debug")
    assert ran.code == 2
    assert "Traceback" in ran.err
    assert "Traceback" not in cli("run", "-m", "model.yaml", "-d", "nothing").err


def test_a_data_file_is_a_dataset(cli: Cli, folder: Path) -> None:
    (folder / "mine.csv").write_text("question,A,B,answer\ncase 0?,x,y,A\n")
    ran = cli("run", "-m", "model.yaml", "-d", "mine.csv", "--no-server", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["cells"][0]["dataset"] == "mine"


def test_a_spec_file(cli: Cli, folder: Path) -> None:
    spec = {"models": ["model.yaml"], "datasets": ["replies.yaml"], "suite": "nightly"}
    (folder / "sub").mkdir()
    for name in ("model.yaml", "replies.yaml", "replies.jsonl"):
        (folder / "sub" / name).write_text((folder / name).read_text())
    (folder / "sub" / "e.yaml").write_text(json.dumps(spec))
    ran = cli("run", "sub/e.yaml", "--no-server", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(Path(ran.json["manifest"]).read_text())["suite"] == "nightly"


def test_shorthand() -> None:
    assert shorthand("0.1", None, 4, 8) == ["reader_cfg.test_range=0.1", "n=4", "models.*.batch_size=8"]
    assert shorthand(None, 5, None, None) == ["reader_cfg.test_range=[:5]"]
    with pytest.raises(UsageError):
        shorthand("[:1]", 1, None, None)


def test_unsafe_code_must_be_allowed_in_so_many_words(cli: Cli) -> None:
    for option, allowed in (((), False), (("--allow-unsafe-code",), True)):
        manifest = json.loads(Path(cli(*RUN, *option, "--json").json["manifest"]).read_text())
        assert manifest["spec"]["allow_unsafe_code"] is allowed
