"""``show`` with filters, ``rescore``, and what ``preview`` and ``--dry-run`` tell of judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Cli

REPLIES = ["Answer: B", "Answer: C", "No idea.", "It is A. Answer: D", ""]

DATASET = """\
type: JsonlDataset
abbr: letters
path: letters.jsonl
reader_cfg: {input_columns: [question], output_column: answer}
infer_cfg:
  prompt_template:
    type: RawPromptTemplate
    messages:
      - {role: user, content: "{question}"}
  inferencer: {type: GenInferencer}
eval_cfg:
  evaluator: {type: AccEvaluator}
  pred_postprocessor: {type: choice_letter, options: ABCD}
  extractors: {first: {type: first-capital}}
"""

RUN = ("run", "-m", "model.yaml", "-d", "letters.yaml", "--no-server")


@pytest.fixture(autouse=True)
def _letters(folder: Path) -> None:
    rows = [{"question": f"case {i}", "answer": "B"} for i in range(len(REPLIES))]
    (folder / "letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "letters.yaml").write_text(DATASET)
    rules = {f"case {i}": reply for i, reply in enumerate(REPLIES)}
    (folder / "model.yaml").write_text(json.dumps({"type": "Scripted", "abbr": "m", "path": "m", "rules": rules}))
    judge = {"type": "Scripted", "abbr": "judge", "path": "judge", "reply": "VERDICT: CORRECT"}
    (folder / "judge.yaml").write_text(json.dumps(judge))


def questions(cli: Cli, *arguments: str) -> list[str]:
    return [row["row"]["question"] for row in cli("show", "latest", *arguments, "--json").json["samples"]]


def test_filters_choose_samples(cli: Cli) -> None:
    cli(*RUN)
    assert questions(cli, "--wrong") == [f"case {i}" for i in (1, 2, 3, 4)]
    assert questions(cli, "--unparsed") == ["case 2", "case 4"]
    assert questions(cli, "--failed") == []
    assert questions(cli, "--dataset", "letters", "--wrong", "-n", "1") == ["case 1"]
    assert questions(cli, "--where", "extracted = '\"D\"' OR output = ''") == ["case 3", "case 4"]
    assert questions(cli, "--where", "json_extract_string(row, '$.question') LIKE '%1'", "--wrong") == ["case 1"]
    assert "no sample is like that" in cli("show", "latest", "--failed").out
    assert cli("show", "latest", "--unparsed").out.count("· wrong, nothing was found in the answer") == 2


def test_the_audit_lists_where_extractors_disagree(cli: Cli) -> None:
    cli(*RUN)
    samples = cli("show", "latest", "--audit", "--json").json["samples"]
    assert [row["found"] for row in samples][2] == {"choice_letter": None, "first": "N"}
    assert "case 0" in questions(cli, "--audit"), "first-capital finds the A of Answer"
    assert '"first": "N"' in cli("show", "latest", "--audit").out


def test_wrong_filters_are_one_line(cli: Cli) -> None:
    cli(*RUN)
    for arguments, message in [
        (("--where", "nosuch = 1"), "nosuch"),
        (("--where", "1=1) UNION SELECT (1"), "--where"),
        (("--dataset", "leters"), "did you mean 'letters'"),
        (("--sample", "zzz"), "no sample"),
    ]:
        ran = cli("show", "latest", *arguments)
        assert (ran.code, ran.err.count("\n")) == (2, 1), arguments
        assert message in ran.err


def test_rescore_asks_nothing_and_leaves_a_run_of_its_own(cli: Cli) -> None:
    first = cli(*RUN, "--json").json
    again = cli("rescore", "latest", "--no-server", "--json", "--set", "eval_cfg.pred_postprocessor={type: first-capital}").json
    assert again["run"] != first["run"]
    assert again["requests"]["sent"] == 0
    assert [r["cells"][0]["value"] for r in (first, again)] == [20.0, 0.0]
    assert again["cells"][0]["version"] != first["cells"][0]["version"]


def test_rescore_refuses_what_would_ask(cli: Cli) -> None:
    cli(*RUN)
    ran = cli("rescore", "latest", "--no-server", "--set", "infer_cfg.inferencer.max_out_len=5")
    assert ran.code == 2
    assert "5 requests" in ran.err
    judged = "eval_cfg.evaluator={type: CorrectnessJudge, judge: {type: Scripted, path: j, reply: 'VERDICT: CORRECT'}}"
    ran = cli("rescore", "latest", "--no-server", "--set", judged, "--set", "eval_cfg.pred_postprocessor=null")
    assert ran.code == 2
    assert "4 requests (4 to judges)" in ran.err
    assert len(cli("runs", "--json").json) == 1


def test_a_judged_run_is_shown_traced_previewed_and_rescored(cli: Cli, folder: Path) -> None:
    text = DATASET[: DATASET.index("eval_cfg")] + "eval_cfg:\n  evaluator: {type: CorrectnessJudge}\n"
    (folder / "letters.yaml").write_text(text)
    assert "needs a judge" in cli(*RUN).err
    dry = cli(*RUN, "--judge", "judge.yaml", "--dry-run")
    assert "at most 5 further requests" in dry.out
    found = cli(*RUN, "-j", "judge.yaml", "--json").json
    assert found["cells"][0]["value"] == 80.0
    sample = cli("show", "latest", "--where", "correct", "-n", "1", "--json").json["samples"][0]
    (said,) = sample["judged"]
    assert (said["verdict"], said["output"], sample["detail"]) == ("CORRECT", "VERDICT: CORRECT", {"verdict": "CORRECT"})
    assert 'verdict "CORRECT"' in cli("show", "latest").out
    tables = [table["table"] for table in cli("trace", "latest", "letters", "--json").json["tables"]]
    assert tables[:6] == ["metrics", "scores", "judge_extracted", "judge_outputs", "judge_prompts", "judge_questions"]
    preview = cli("preview", "letters.yaml", "--json").json
    assert "<<<ANSWER-" in preview["judge"][0]["messages"][0]["content"]
    assert "(here stands the answer of the model)" in cli("preview", "letters.yaml").out
    assert cli("rescore", "latest", "--no-server", "--json").json["requests"]["sent"] == 0


def test_a_spec_names_its_judges_and_show_names_who_said_what(cli: Cli, folder: Path) -> None:
    text = DATASET[: DATASET.index("eval_cfg")] + "eval_cfg:\n  evaluator: {type: CorrectnessJudge}\n"
    (folder / "letters.yaml").write_text(text)
    strict = {"type": "Scripted", "abbr": "strict", "path": "strict", "reply": "VERDICT: INCORRECT"}
    (folder / "spec.yaml").write_text(
        json.dumps({"models": ["model.yaml"], "datasets": ["letters.yaml"], "judges": ["judge.yaml", strict]})
    )
    cli("run", "spec.yaml", "--no-server")
    said = cli("show", "latest", "--json").json["samples"][0]["judged"]
    assert [(reply["judge"], reply["verdict"]) for reply in said] == [("judge", "CORRECT"), ("strict", "INCORRECT")]
    assert "judge strict VERDICT: INCORRECT" in cli("show", "latest").out
    again = cli("run", "spec.yaml", "--no-server", "--set", "judges=[judge.yaml]", "--json").json
    assert (again["requests"]["sent"], again["cells"][0]["value"]) == (0, 80.0)
