"""docs/operate.md, from the server to the first nightly table, as it is written there."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from leaderflow.core.paths import data_file
from leaderflow.core.yaml import load_yaml
from tests.fake_openai import FakeOpenAI
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
DEPLOYMENTS = data_file("deployments")

SYSTEMCTL = """#!/bin/bash
# Starts what the unit would start, and waits for the server.
unit=${{3%%@*}}; [[ $3 == *@* ]] && unit="$unit@"
command=$(sed -n 's/^ExecStart=//p' {units}/$unit.service | sed "s|/srv/leaderflow/venv/bin/||; s|%H-%i|here-${{3#*@}}|")
setsid $command >{place}/$unit.log 2>&1 &
echo $! >>{place}/pids
for _ in $(seq 300); do curl -sf $PREFECT_API_URL/health >/dev/null && exit 0; sleep 0.4; done
exit 1
"""


def programs(place: Path) -> Path:
    """A folder with `leaderflow`, `prefect` and a `systemctl` that needs no root."""
    folder = place / "bin"
    folder.mkdir()
    for name, module in (("leaderflow", "leaderflow"), ("prefect", "prefect")):
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
    (folder / "systemctl").write_text(SYSTEMCTL.format(units=DEPLOYMENTS / "systemd", place=place))
    for path in folder.iterdir():
        path.chmod(0o755)
    return folder


def environment(place: Path, port: int) -> dict[str, str]:
    """The shipped environment file, on a port and a database of the test's own."""
    lines = (DEPLOYMENTS / "leaderflow.env").read_text().replace("/srv/leaderflow", str(place)).splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    shipped = {name: value for name, _, value in pairs}
    own = {
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{place}/prefect.db",
        "LEADERFLOW_RECIPES": f"{place}/recipes",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "PYTHONPATH": str(ROOT),
        "PATH": f"{place}/bin:{os.environ['PATH']}",
    }
    return {**os.environ, **shipped, **own}


@pytest.mark.server
@pytest.mark.xdist_group("server")
def test_the_guide_leads_to_a_table(tmp_path: Path, fake_openai: FakeOpenAI) -> None:
    fake_openai.script(reply="The answer is {number}.", models=None)
    programs(tmp_path)
    for language, block in BLOCKS:
        if language == "yaml" and (path := re.match(r"# (/srv/leaderflow/\S+)\n", block)):
            file = Path(path[1].replace("/srv/leaderflow", str(tmp_path)))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.replace("http://localhost:8000/v1", fake_openai.base_url))
    script = "set -euo pipefail\n" + "".join(block for language, block in BLOCKS if language == "bash")
    try:
        done = subprocess.run(
            ["bash", "-c", script.replace("/srv/leaderflow", str(tmp_path))],
            env=environment(tmp_path, free_port()),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=280,
        )
    finally:
        for pid in (tmp_path / "pids").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(pid), signal.SIGKILL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "deployed   leaderboard/nightly" in done.stdout
    assert "demo_math" in done.stdout.split("demo_math", 1)[1], "the history shows the night"
    assert fake_openai.stats["requests"] == 40, "`leaderflow run` afterwards asked nothing again"


def test_the_shipped_files_are_well_formed() -> None:
    compose = yaml.safe_load((DEPLOYMENTS / "compose.yaml").read_text())
    assert {"database", "server", "worker", "redis"} == set(compose["services"])
    for unit in (DEPLOYMENTS / "systemd").glob("*.service"):
        assert re.search(r"^ExecStart=/srv/leaderflow/\S+ ", unit.read_text(), flags=re.MULTILINE), unit.name
    mentioned = set(re.findall(r"deployments/[\w.-]+\.\w+", TEXT))
    assert mentioned
    assert all((ROOT / name).exists() for name in mentioned)


def test_the_settings_that_the_environment_names_exist() -> None:
    from prefect.settings import get_current_settings

    text = (DEPLOYMENTS / "leaderflow.env").read_text()
    names = set(re.findall(r"^#? ?(PREFECT_[A-Z_]+)=", text, flags=re.MULTILINE)) - {"PREFECT_REDIS_MESSAGING_HOST"}
    known = " ".join(str(name).upper() for name in get_current_settings().to_environment_variables(include_secrets=True))
    assert len(names) > 8
    assert all(name.removeprefix("PREFECT_") in known or name in KNOWN_ALIASES for name in names), names


def test_no_living_run_is_taken_for_crashed() -> None:
    from flows.evaluate import SETTINGS

    waits = load_yaml(DEPLOYMENTS / "automations.yaml").value["automations"][0]["trigger"]["within"]
    name = "PREFECT_FLOWS_HEARTBEAT_FREQUENCY"
    pool = load_yaml(DEPLOYMENTS / "prefect.yaml").value["definitions"]["pool"]["job_variables"]["env"]
    compose = yaml.safe_load((DEPLOYMENTS / "compose.yaml").read_text())["x-python"]["environment"]
    text = (DEPLOYMENTS / "leaderflow.env").read_text()
    said = {name: value for name, _, value in (line.partition("=") for line in text.splitlines())}
    command_line = next(value for setting, value in SETTINGS.items() if setting.name == name)
    assert all(3 * int(seconds) <= waits for seconds in (pool[name], compose[name], said[name], command_line))


KNOWN_ALIASES = {
    "PREFECT_UI_STATIC_DIRECTORY",
    "PREFECT_API_DATABASE_CONNECTION_URL",
    "PREFECT_MESSAGING_BROKER",
    "PREFECT_MESSAGING_CACHE",
}
