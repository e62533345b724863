from __future__ import annotations

import json
from pathlib import Path

from leaderflow.core.text import printable

from .conftest import REPLIES, RUN, Cli


def safe(text: str) -> bool:
    return not any((ord(c) < 32 and c not in "\n\t") or c in "\x7f\x9b\u202e" for c in text)


def test_show_prints_every_reply_as_it_is(cli: Cli) -> None:
    cli(*RUN)
    ran = cli("show", "latest")
    assert ran.code == 0
    assert all(printable(reply) in ran.out for reply in REPLIES)
    assert safe(ran.out)
    assert ran.out.count("· wrong") == 6
    assert ran.out.count("· right") == 1


def test_show_one_cell_some_samples(cli: Cli) -> None:
    run = cli(*RUN, "--json").json["run"]
    found = cli("show", run, "scripted:replies", "--wrong", "-n", "3", "--json").json
    assert [row["correct"] for row in found["samples"]] == [False] * 3
    sample = found["samples"][0]["sample_id"]
    (one,) = cli("show", run[:-2], "replies", "--sample", sample, "--json").json["samples"]
    assert one["answers"][0]["output"] == REPLIES[0]
    assert one["prompts"][0]["messages"] == [{"role": "user", "content": "case 0"}]
    assert (one["extracted"], one["reference"], one["row"]["question"]) == (REPLIES[0], "[/]", "case 0")


def test_names_that_do_not_exist(cli: Cli) -> None:
    assert "no run in" in cli("show", "latest").err
    cli(*RUN)
    assert cli("show", "nosuch").code == 2
    ran = cli("show", "latest", "scripted:replys")
    assert ran.code == 2
    assert "did you mean 'scripted:replies'" in ran.err
    assert cli("show", "latest", "replies", "--sample", "zz").code == 2


def test_two_forms_at_once_are_refused(cli: Cli) -> None:
    cli(*RUN)
    ran = cli("show", "latest", "--json", "--format", "md")
    assert (ran.code, ran.out) == (2, "")
    assert "--json and --format md" in ran.err


def test_runs_are_listed_newest_first(cli: Cli) -> None:
    assert "no run yet" in cli("runs").out
    first = cli(*RUN, "--json").json["run"]
    second = cli(*RUN, "--limit", "1", "--json").json["run"]
    assert {row["run"] for row in cli("runs", "--json").json} == {first, second}
    shown = cli("runs").out
    assert first in shown
    assert "scripted" in shown
    assert "replies" in shown


def test_a_number_is_traced_back_to_prompt_and_request(cli: Cli, folder: Path) -> None:
    cli(*RUN)
    found = cli("trace", "latest", "scripted:replies", "--json").json
    tables = [table["table"] for table in found["tables"]]
    assert tables[:2] == ["metrics", "scores"]
    assert {"extracted", "outputs", "prompts", "samples"} <= set(tables)
    assert all((folder / "home" / "store" / table["path"]).is_file() for table in found["tables"])
    (sample,) = found["samples"]
    assert sample["prompts"][0]["messages"][0]["content"] == "case 0"
    assert len(sample["answers"][0]["request_key"]) == 64
    ran = cli("trace", "latest", "replies")
    assert found["tables"][0]["key"][:12] in ran.out
    assert safe(ran.out)


def test_why_names_the_first_difference(cli: Cli) -> None:
    first = cli(*RUN, "--json").json["run"]
    second = cli(*RUN, "--set", "infer_cfg.inferencer.max_out_len=5", "--json").json["run"]
    one, two = (cli("trace", run, "replies", "--json").json["tables"] for run in (first, second))
    keys = [next(t["key"] for t in tables if t["table"] == "outputs") for tables in (one, two)]
    ran = cli("why", keys[0][:12], keys[1][:12])
    assert ran.code == 0
    assert "max_out_len" in ran.out
    assert "the two are the same" in cli("why", keys[0], keys[0]).out
    assert cli("why", keys[0], "ffffffffffffffff").code == 2
    versions = [cli("show", run, "--json").json["cells"][0]["version"] for run in (first, second)]
    assert "inferencer.max_out_len" in cli("why", *versions).out
    assert cli("why", "latest~1:replies", "latest:scripted:replies").out == cli("why", *versions).out


def test_preview_shows_exactly_what_is_asked(cli: Cli) -> None:
    ran = cli("preview", "replies.yaml", "-m", "model.yaml", "-n", "2", "--json")
    assert ran.code == 0, ran.err
    rows = ran.json["rows"]
    assert [row["messages"] for row in rows] == [[{"role": "user", "content": f"case {i}"}] for i in range(2)]
    keys = {"sample_id", "label", "messages", "example_ids", "dropped_examples", "tokens", "request_key"}
    assert keys <= set(rows[0])
    cli(*RUN)
    sample = cli("show", "latest", "--json").json["samples"][0]
    assert sample["answers"][0]["request_key"] == rows[0]["request_key"]


def test_preview_without_a_model_and_for_people(cli: Cli, folder: Path) -> None:
    assert cli("preview", "replies.yaml", "-n", "1", "--json").json["rows"][0]["request_key"] is None
    (folder / "replies.jsonl").write_text(json.dumps({"question": "[/] \x1b[2J {x}", "answer": "[bold]"}) + "\n")
    ran = cli("preview", "replies.yaml")
    assert r"[/] \x1b[2J {x}" in ran.out
    assert "[bold]" in ran.out
    assert "1 samples" in ran.out
    assert safe(ran.out)


def test_preview_shows_a_family_once_for_each_template(cli: Cli, folder: Path) -> None:
    for topic in ("a", "b"):
        (folder / f"{topic}.jsonl").write_text(json.dumps({"question": f"about {topic}", "answer": "x", "id": topic}) + "\n")
    text = (folder / "replies.yaml").read_text().replace("abbr: replies", "abbr: ${topic}\ngroup: topics")
    text = text.replace("path: replies.jsonl", "path: ${topic}.jsonl").replace("answer}", "answer, id_column: id}")
    (folder / "topics.yaml").write_text(f"{text}matrix: {{topic: [a, b]}}\n")
    ran = cli("preview", "topics.yaml")
    assert "about a" in ran.out, ran.err
    assert "about b" not in ran.out
    assert "1 more with this template (--all shows each): b" in ran.out
    assert "about b" in cli("preview", "topics.yaml", "--all").out
    assert "about b" in cli("preview", "topics.yaml", "--sample", "b").out
    assert cli("preview", "topics.yaml", "--sample", "c").code == 2


def test_preview_diff(cli: Cli, folder: Path) -> None:
    text = (folder / "replies.yaml").read_text()
    (folder / "other.yaml").write_text(text.replace('"{question}"', '"Q: {question}"'))
    ran = cli("preview", "replies.yaml", "--diff", "other.yaml", "-n", "1")
    assert "-user: case 0" in ran.out
    assert "+user: Q: case 0" in ran.out


def test_a_broken_manifest_is_a_warning_in_the_list_of_runs(cli: Cli, folder: Path) -> None:
    assert cli(*RUN).code == 0
    broken = folder / "home" / "store" / "runs" / "20000101-000000-aaaaa" / "manifest.json"
    broken.parent.mkdir()
    broken.write_text("{")
    ran = cli("runs", "--json")
    assert (ran.code, len(ran.json)) == (0, 1)
    assert ran.err.startswith("warning: run 20000101-000000-aaaaa is left out")


def test_a_run_that_died_is_listed_with_what_it_was_to_do(cli: Cli, folder: Path) -> None:
    run = cli(*RUN, "--json").json["run"]
    file = folder / "home/store/runs" / run / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"state": "running", "cells": {}, "summary": None}))
    (row,) = cli("runs", "--json").json
    assert (row["state"], row["models"], row["datasets"]) == ("crashed", ["scripted"], ["replies"])


def test_a_runs_only_cell_is_traced_without_its_name(cli: Cli, folder: Path) -> None:
    cli(*RUN)
    assert "scripted:replies · run" in cli("trace", "latest").out
    (folder / "other.yaml").write_text("{type: Scripted, abbr: other, path: other}")
    cli(*RUN, "-m", "other.yaml")
    ran = cli("trace", "latest")
    assert ran.code == 2
    assert "name one of them: scripted:replies, other:replies" in ran.err
