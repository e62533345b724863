"""What the README tells people to type works as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fake_openai import FakeOpenAI
from tests.flows.support import write_questions
from tests.inference.huggingface.tiny import build

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "docs").glob("*.md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [line for _, block in BLOCKS for line in block.splitlines() if line.startswith("leaderflow ")]
NAMED = re.findall(r"^\| `(leaderflow [^`]+)`", README, flags=re.MULTILINE)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with what the README takes for granted: data, weights and the specification it shows."""
    data = tmp_path / "data"
    for split in ("train", "test"):
        (data / "GSM8K").mkdir(parents=True, exist_ok=True)
        row = {"question": "How much is 1 plus 1?", "answer": "1+1 = 2\n#### 2"}
        (data / "GSM8K" / f"{split}.jsonl").write_text(json.dumps(row) + "\n")
    for folder, suffix in (("dev", "dev"), ("val", "val"), ("test", "test")):
        (data / "MMLU" / folder).mkdir(parents=True)
        (data / "MMLU" / folder / f"anatomy_{suffix}.csv").write_text("Which one?,this,that,both,none,A\n")
    (data / "ARC" / "ARC-c").mkdir(parents=True)
    options = {"text": ["ice", "iron", "salt", "sand"], "label": ["A", "B", "C", "D"]}
    arc = {"id": "1", "question": "What melts at 0 °C?", "choices": options, "answerKey": "A"}
    (data / "ARC" / "ARC-c" / "arc_challenge_test.jsonl").write_text(json.dumps(arc) + "\n")
    build(tmp_path / "path" / "to" / "weights")
    write_questions(tmp_path / "sums.jsonl", range(4))
    (tmp_path / "spec.yaml").write_text(next(block for language, block in BLOCKS if language == "yaml"))
    return tmp_path


def run(arguments: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    own = {"PYTHONPATH": str(ROOT), "LEADERFLOW_DATA": str(place / "data"), "OPENAI_API_KEY": "none", "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "leaderflow", *arguments]
    return subprocess.run(command, cwd=place, env={**os.environ, **own}, capture_output=True, text=True, timeout=200)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(command: str, place: Path, fake_openai: FakeOpenAI) -> None:
    fake_openai.script(models=None)
    spec = place / "spec.yaml"
    spec.write_text(spec.read_text().replace("https://example.com/v1", fake_openai.base_url))
    arguments = shlex.split(command.replace("http://localhost:8000/v1", fake_openai.base_url))[1:]
    done = run([*arguments, "--no-server"], place)
    assert done.returncode == 0, done.stderr
    assert "every request answered" in done.stdout


@pytest.mark.parametrize("command", NAMED)
def test_a_command_of_the_table_exists(command: str, place: Path) -> None:
    name, *rest = shlex.split(command.replace("\\|", " "))[1:]
    options = [word for word in rest if word.startswith("-")]
    sub = rest[:1] if name == "server" else []
    done = run([name, *sub, "--help"], place)
    assert done.returncode == 0
    assert all(option in done.stdout for option in options)


def dead_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file of the repository."""
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    return [link for link in links if not link.startswith("https://") and not (page.parent / link).exists()]


def test_the_readme_keeps_its_length_and_names_every_guide() -> None:
    assert len(README.splitlines()) <= 150
    assert [page.name for page in GUIDES if f"(docs/{page.name})" not in README] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert dead_links(page) == []
