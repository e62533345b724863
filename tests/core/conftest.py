from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

DATASET = """\
type: tests.core.toys:Rows
abbr: sums
path: owner/sums
reader_cfg:
  input_columns: [question]
  output_column: answer
infer_cfg:
  prompt_template:
    type: tests.core.toys:Template
    messages:
      - {role: user, content: "{question}"}
  inferencer:
    type: tests.core.toys:Gen
    max_out_len: 32
eval_cfg:
  evaluator: {type: tests.core.toys:Exact}
  pred_postprocessor:
    type: tests.core.toys:first_letter
"""

MODEL = """\
type: tests.core.toys:Api
abbr: api
path: served-name
openai_api_base: http://127.0.0.1:9/v1
"""

Write = Callable[[str, str], Path]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recipes (`sums`, `api`) that stands first, without the machine's own settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEADERFLOW_RECIPES", str(tmp_path / "recipes"))
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LEADERFLOW_DATA", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    _write("recipes/datasets/sums/sums.yaml", DATASET)
    _write("recipes/models/api.yaml", MODEL)
    return _write
