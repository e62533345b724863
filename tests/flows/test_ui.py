"""What a person sees in the Prefect UI, through a real browser."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.api import evaluate
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions

pytestmark = [
    pytest.mark.server,
    pytest.mark.xdist_group("server"),
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]

QUIET = ["gpu", "quic", "background-networking", "component-update", "sync"]


def page(address: str, profile: Path) -> str:
    """Return the page's text once its scripts have run."""
    flags = ["--headless", "--no-sandbox", "--no-first-run", f"--user-data-dir={profile}", "--virtual-time-budget=20000"]
    command = ["chromium", *flags, *(f"--disable-{name}" for name in QUIET), "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_the_run_its_tasks_and_the_leaderboard_are_seen(prefect_server: str, server: FakeOpenAI, tmp_path: Path) -> None:
    file = write_questions(tmp_path / "sums.jsonl", range(20))
    with temporary_settings({PREFECT_API_URL: prefect_server}):
        result = evaluate(spec([model(server)], [dataset(file)]))
    assert result.ui is not None
    ui = prefect_server.removesuffix("/api")
    run = page(result.ui.replace(f"{ui}/runs", f"{ui}/v2/runs"), tmp_path / "one")
    assert "sums · fake" in run
    assert "Completed" in run
    board = page(f"{ui}/v2/artifacts/key/leaderboard", tmp_path / "two")
    assert f"Leaderboard of run {result.run}" in board
