from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leaderflow.cli.main import main
from tests.fake_openai import _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]

REPLIES = [
    "[INST] hi [/INST]",
    "see [0] and [1], [bold red]not red[/]",
    "[/]",
    "closing [/photos/2019/a.jpg]",
    "\x1b]0;owned\x07\x1b[31mred\x1b[2J",
    "a\rb overwritten?",
    "\u202egnp.exe",
]

DATASET = """\
type: JsonlDataset
abbr: replies
path: replies.jsonl
reader_cfg: {input_columns: [question], output_column: answer}
infer_cfg:
  prompt_template:
    type: RawPromptTemplate
    messages:
      - {role: user, content: "{question}"}
  inferencer: {type: GenInferencer}
eval_cfg:
  evaluator: {type: AccEvaluator}
"""


@dataclass(frozen=True)
class Ran:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _own_log() -> Iterator[None]:
    logger = logging.getLogger("leaderflow")
    before = logger.handlers, logger.propagate
    yield
    logger.handlers, logger.propagate = before


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a dataset of seven unpleasant replies and a scripted model that gives them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    for name in ("LEADERFLOW_STORE", "LEADERFLOW_DATA", "LEADERFLOW_RECIPES", "OPENAI_API_KEY", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    rows = [{"question": f"case {i}", "answer": "[/]"} for i in range(len(REPLIES))]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "replies.yaml").write_text(DATASET)
    rules = {f"case {i}": reply for i, reply in enumerate(REPLIES)}
    model = {"type": "Scripted", "abbr": "scripted", "path": "scripted", "rules": rules}
    (tmp_path / "model.yaml").write_text(json.dumps(model))
    return tmp_path


@pytest.fixture
def cli(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    def _cli(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["leaderflow", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, out, err)

    return _cli


RUN = ("run", "-m", "model.yaml", "-d", "replies.yaml", "--no-server")
