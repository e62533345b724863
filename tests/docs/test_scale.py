"""docs/scale.md: its Ray cluster is started, and its evaluation run on it, as it is written there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.inference.huggingface import tiny
from tests.ports import free_port
from tests.ray_cluster import STORE_BYTES, kill

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
SECTION = TEXT.partition("## One run over several machines\n")[2]
COMMANDS = "".join(re.findall(r"^```bash\n(.*?)^```", SECTION, flags=re.MULTILINE | re.DOTALL))

RAY = """#!/bin/bash
# Starts a small node on loopback that ends with the test.
[[ $2 == --head ]] && more="--include-dashboard=false --temp-dir={short}"
{python} -c "from ray.scripts.scripts import main; main()" "$@" $more --block --num-cpus=1 --node-ip-address=127.0.0.1 \\
  --object-store-memory={memory} --disable-usage-stats >>{folder}/log 2>&1 &
echo $! >>{folder}/pids
for _ in $(seq 300); do [ $(grep -c "Ray runtime started" {folder}/log) -ge $(wc -l <{folder}/pids) ] && exit 0; sleep 0.2; done
exit 1
"""


@pytest.mark.slow_prefect
@pytest.mark.server
@pytest.mark.xdist_group("server")
def test_a_run_over_several_machines(prefect_server: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    tiny.build(tmp_path / "weights")
    recipe = re.search(r"^```yaml\n# /srv/leaderflow/recipes/(\S+)\n(.*?)^```", SECTION, flags=re.MULTILINE | re.DOTALL)
    assert recipe
    file = tmp_path / "recipes" / recipe[1]
    file.parent.mkdir(parents=True)
    file.write_text(recipe[2].replace("/models/my-model", str(tmp_path / "weights")))
    programs = tmp_path / "bin"
    programs.mkdir()
    short = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a socket's path must be short
    (programs / "ray").write_text(RAY.format(python=sys.executable, folder=tmp_path, short=short, memory=STORE_BYTES))
    (programs / "leaderflow").write_text(f'#!/bin/sh\nexec {sys.executable} -m leaderflow "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    own = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LEADERFLOW_RECIPES": str(tmp_path / "recipes"),
        "PREFECT_API_URL": prefect_server,
    }
    script = "set -euo pipefail\n" + COMMANDS.replace("10.0.0.1", "127.0.0.1").replace("6379", str(free_port()))
    try:
        command = ["bash", "-c", script]
        done = subprocess.run(command, env={**os.environ, **own}, cwd=tmp_path, capture_output=True, text=True, timeout=250)
    finally:
        for pid in (tmp_path / "pids").read_text().split():
            kill(int(pid))
        shutil.rmtree(short, ignore_errors=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("leaderflow show ") == 2, "both runs print their table"
    runs = sorted((tmp_path / "store" / "runs").glob("*/manifest.json"))
    first, second = (path.read_text() for path in runs)
    assert '"task_runner":"ray"' in first.replace(" ", "")
    assert '"sent":0' in second.replace(" ", "")
