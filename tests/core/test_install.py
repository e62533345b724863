from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_in(folder: Path) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path[1:1] = [{str(ROOT)!r}]; from leaderflow.core.install import check_packages; check_packages()"
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)


def test_our_own_packages_pass(tmp_path: Path) -> None:
    assert run_in(tmp_path).returncode == 0


def test_a_package_of_the_same_name_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "__init__.py").write_text("")
    done = run_in(tmp_path)
    assert done.returncode == 1
    assert f"'tasks' would come from {tmp_path / 'tasks'}" in done.stderr
