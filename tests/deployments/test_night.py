"""What goes wrong at night, for real: killed processes, missed dates, several workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.schedules import IntervalSchedule
from prefect.events.schemas.automations import AutomationCore

from leaderflow.core.paths import data_file
from leaderflow.core.yaml import load_yaml
from tests.deployments.support import Site, end
from tests.fake_openai import FakeOpenAI

pytestmark = [pytest.mark.slow_prefect, pytest.mark.server, pytest.mark.xdist_group("server"), pytest.mark.timeout(900)]

ON_DEMAND = {"entrypoint": "flows.evaluate.evaluate", "parameters": {"models": ["fake"], "datasets": ["sums"], "shard_size": 20}}
IN_FLIGHT = 64


def asked(server: FakeOpenAI, at_least: int, seconds: float = 90) -> None:
    """Wait until the model was asked so often."""
    deadline = time.monotonic() + seconds
    while server.stats["requests"] < at_least:
        assert time.monotonic() < deadline, "the run never asked"
        time.sleep(0.1)


def reported(site: Site) -> None:
    """Wait until the worker has said its own of a crash: that comes seconds after the first report, and undoes an earlier Retry."""
    deadline = time.monotonic() + 60
    while "prefect.flow_runs.worker - Check whether" not in (site.folder / "worker.log").read_text():
        assert time.monotonic() < deadline, "the worker never said so"
        time.sleep(0.3)


def scheduled(site: Site, name: str) -> list[FlowRun]:
    """A deployment's runs whose date has passed."""

    async def question(client: Any) -> list[FlowRun]:
        deployment = await client.read_deployment_by_name(f"leaderboard/{name}-{site.pool}")
        only = DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id]))
        runs: list[FlowRun] = await client.read_flow_runs(deployment_filter=only, limit=200)
        return [run for run in runs if run.expected_start_time and run.expected_start_time < datetime.now(UTC)]

    found: list[FlowRun] = site.ask(question)
    return sorted(found, key=lambda run: str(run.expected_start_time))


def test_a_killed_flow_is_crashed_and_retry_asks_only_the_rest(prefect_server: str, big: Site, server: FakeOpenAI) -> None:
    big.deploy(**{"on-demand": ON_DEMAND})
    with big.worker() as worker:
        run = big.start("evaluate/on-demand")
        asked(server, 100)
        for child in psutil.Process(worker.pid).children(recursive=True):
            child.kill()
        crashed = big.finished(run)
        assert crashed.state is not None
        assert crashed.state.name == "Crashed"
        reported(big)
        command = [sys.executable, "-m", "prefect", "--no-prompt", "flow-run", "retry", str(run.id)]
        subprocess.run(command, env=big.environment, check=True, stdout=subprocess.DEVNULL)
        again = big.finished(run, attempts=2)
    assert again.state is not None
    assert again.state.name == "Completed"
    assert 400 <= server.stats["requests"] <= 400 + IN_FLIGHT * 3


def test_without_power_the_automation_marks_the_run_and_retry_goes_on(big: Site, server: FakeOpenAI) -> None:
    shipped = next(iter(load_yaml(data_file("deployments") / "automations.yaml").value["automations"]))
    quick = {**shipped, "name": f"{shipped['name']} {big.pool}", "trigger": {**shipped["trigger"], "within": 60}}
    big.ask(lambda client: client.create_automation(AutomationCore.model_validate(quick)))
    big.deploy(**{"on-demand": ON_DEMAND})
    with big.worker(PREFECT_FLOWS_HEARTBEAT_FREQUENCY="30") as worker:
        run = big.start("evaluate/on-demand")
        asked(server, 100)
        end(worker)
    crashed = big.finished(run, seconds=240)
    assert crashed.state is not None
    assert crashed.state.name == "Crashed"
    assert "no heartbeat" in str(crashed.state.message)
    with big.worker():
        big.retry(run)
        again = big.finished(run, attempts=2)
    assert again.state is not None
    assert again.state.name == "Completed"
    assert 400 <= server.stats["requests"] <= 400 + IN_FLIGHT * 3


def test_the_cron_of_the_nightly_deployment_fires(site: Site, server: FakeOpenAI) -> None:
    when = datetime.now(UTC) + timedelta(seconds=75)
    nightly = {
        "entrypoint": "flows.leaderboard.leaderboard",
        "parameters": {"suite": "nightly", "max_age": "20h"},
        "schedules": [{"cron": f"{when.minute} {when.hour} * * *", "timezone": "UTC", "slug": "nightly"}],
        "concurrency_limit": {"limit": 1, "collision_strategy": "CANCEL_NEW"},
    }
    site.deploy(nightly=nightly)
    with site.worker():
        deadline = time.monotonic() + 240
        while not (runs := scheduled(site, "nightly")) and time.monotonic() < deadline:
            time.sleep(1)
        night = site.finished(runs[0])
    assert night.state is not None
    assert night.state.name == "Completed"
    assert night.auto_scheduled
    assert server.stats["requests"] == 40


def test_of_missed_dates_one_runs_on_its_own(site: Site, server: FakeOpenAI) -> None:
    nightly = {
        "entrypoint": "flows.leaderboard.leaderboard",
        "parameters": {"suite": "nightly", "fresh": True},
        "concurrency_limit": {"limit": 1, "collision_strategy": "CANCEL_NEW"},
    }
    site.deploy(nightly=nightly)

    async def every_ten_seconds(client: Any) -> None:
        deployment = await client.read_deployment_by_name(f"leaderboard/nightly-{site.pool}")
        schedule = IntervalSchedule(interval=timedelta(seconds=10))
        await client.create_deployment_schedules(deployment.id, [DeploymentScheduleCreate(schedule=schedule, active=True)])

    async def stop(client: Any) -> None:
        deployment = await client.read_deployment_by_name(f"leaderboard/nightly-{site.pool}")
        for schedule in deployment.schedules:
            await client.delete_deployment_schedule(deployment.id, schedule.id)

    site.ask(every_ten_seconds)
    deadline = time.monotonic() + 120
    while len(scheduled(site, "nightly")) < 5 and time.monotonic() < deadline:
        time.sleep(1)
    missed = {run.id for run in scheduled(site, "nightly")}
    assert len(missed) >= 5, "nobody was there to run them"
    with site.worker():
        time.sleep(25)
        ended = [site.finished(run) for run in scheduled(site, "nightly") if run.id in missed]
        site.ask(stop)
    names = [run.state.name for run in ended if run.state is not None]
    assert names.count("Completed") <= 1
    assert set(names) <= {"Completed", "Cancelled"}
    assert len(names) == len(missed)


def test_two_workers_share_a_store_and_ask_nothing_twice(big: Site, server: FakeOpenAI) -> None:
    big.deploy(**{"on-demand": ON_DEMAND})
    with big.worker(), big.worker():
        runs = [big.start("evaluate/on-demand"), big.start("evaluate/on-demand", shard_size=50)]
        states = [big.finished(run).state for run in runs]
    assert [state.name for state in states if state is not None] == ["Completed", "Completed"], states
    assert server.stats["requests"] == 400
    first, second = (manifest["cells"]["fake:sums"] for manifest in big.manifests())
    for table in ("samples", "scores", "metrics"):
        assert [ref["digest"] for ref in first["tables"][table]] == [ref["digest"] for ref in second["tables"][table]]


def test_a_worker_that_is_told_to_stop_stops(site: Site) -> None:
    site.deploy(**{"on-demand": ON_DEMAND})
    with site.worker() as worker:
        run = site.finished(site.start("evaluate/on-demand"))
        assert run.state is not None
        os.kill(worker.pid, signal.SIGINT)
        worker.wait(timeout=60)
