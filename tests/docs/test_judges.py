"""The guide to judges is true: its commands run, its evaluators work, its verdicts are read so."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from evaluators import stage
from evaluators.extractors.verdict import verdict
from evaluators.judges import stage as judges
from flows.judge import render_questions
from flows.preview import ANY_INPUT
from leaderflow.cli.main import main
from leaderflow.core.artifacts import samples_of
from leaderflow.core.load import load_dataset
from leaderflow.core.registry import known
from tasks.judge import judge_dataset
from templating.stage import Target

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TOWNS = next(text for kind, text in BLOCKS if kind == "yaml")
EVALUATORS = [text for kind, text in BLOCKS if kind == "yaml"][1:]
VERDICTS = re.findall(r"^\| (.+?) \| (\S+) \|$", PAGE.split("| reply of the judge")[1], re.MULTILINE)[1:]
ROWS = [{"question": f"Capital {i}?", "answer": f"town {i}", "checked": "yes"} for i in range(4)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OC_JUDGE_MODEL", raising=False)
    (tmp_path / "towns.yaml").write_text(TOWNS)
    (tmp_path / "towns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    for name, reply in (("model", "town 1"), ("judge", "VERDICT: INCORRECT")):
        block = {"type": "Scripted", "abbr": name, "path": name, "reply": reply}
        (tmp_path / f"{name}.yaml").write_text(json.dumps(block))
    return tmp_path


def test_the_commands_run(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for line in next(text for kind, text in BLOCKS if kind == "sh").splitlines():
        words = shlex.split(line)
        server = ["--no-server"] if words[1] in ("run", "rescore") else []
        monkeypatch.setattr(sys, "argv", [*words, *server])
        with pytest.raises(SystemExit) as ended:
            main()
        out = capsys.readouterr().out
        assert ended.value.code in (0, None), line
        assert out, line
    assert "0 requests sent" in out


@pytest.mark.parametrize("text", EVALUATORS)
def test_the_evaluators_ask(text: str, place: Path) -> None:
    evaluator = YAML(typ="safe").load(text)["evaluator"]
    (towns,) = load_dataset(place / "towns.yaml")
    towns = towns.model_copy(update={"eval_cfg": towns.eval_cfg.model_copy(update={"evaluator": evaluator})})
    samples = samples_of((str(i), row) for i, row in enumerate(ROWS))
    stage.check(towns, samples)
    judging = stage.build_evaluator(towns).judging
    questions = judges.as_samples(judges.pretended(samples, towns, judging.rivals))
    assert questions.num_rows == 4 * (2 if judging.rivals else 1)
    prompts = render_questions(judge_dataset(towns, judging, "model"), Target(accepts=ANY_INPUT, mode="gen"), questions)
    assert all("<<<ANSWER-" in text for text in prompts.column("messages").to_pylist())


@pytest.mark.parametrize(("reply", "found"), VERDICTS)
def test_the_verdicts_are_read_so(reply: str, found: str) -> None:
    assert (verdict(reply.replace(" ⏎ ", "\n")).value or "–") == found


def test_the_page_is_short_and_names_what_exists() -> None:
    assert len(PAGE.splitlines()) <= 120
    assert len(VERDICTS) == 6
    assert set(re.findall(r"`(\w+(?:Judge|Evaluator))`", PAGE)) <= set(known("evaluator"))
