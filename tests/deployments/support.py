"""A team's machine in small: recipes and a store of its own, deployments on a real server, a real process worker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import yaml
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId, FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Scheduled

from flows import deploy as deploying
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, write_questions

ROOT = Path(__file__).resolve().parents[2]
FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


class Site:
    """Recipes ``fake``, ``sums`` and ``nightly``, a store, and a server's address."""

    def __init__(self, api: str, folder: Path, server: FakeOpenAI, rows: int = 40, **changes: Any) -> None:
        self.api, self.folder, self.server = api, folder, server
        self.pool = f"pool-{folder.name}"
        for kind, name, block in (
            ("models", "fake", model(server, **changes)),
            ("datasets/own", "sums", {**dataset(Path("sums.jsonl")), "path": "sums.jsonl"}),
            ("leaderboards", "nightly", {"models": ["fake"], "datasets": ["sums"]}),
        ):
            path = folder / "recipes" / kind / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(block))
        write_questions(folder / "recipes" / "datasets" / "own" / "sums.jsonl", range(rows))

    @property
    def environment(self) -> dict[str, str]:
        """What the worker runs with."""
        own = {"LEADERFLOW_HOME": str(self.folder / "home"), "LEADERFLOW_STORE": str(self.folder / "store")}
        quick = {"PREFECT_WORKER_QUERY_SECONDS": "1", "PREFECT_HOME": str(self.folder / "prefect"), "PYTHONPATH": str(ROOT)}
        more = {"LEADERFLOW_RECIPES": str(self.folder / "recipes"), "PREFECT_API_URL": self.api, "PYTHONSAFEPATH": "1"}
        return {**os.environ, **own, **more, **quick, "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "OMP_NUM_THREADS": "1"}

    def deploy(self, **deployments: dict[str, Any]) -> deploying.Deployed:
        """Deploy flows by name: ``nightly={"entrypoint": …, "parameters": …}``."""
        blocks = [
            {"name": f"{name}-{self.pool}", "work_pool": {"name": self.pool}, "schedules": [], **block}
            for name, block in deployments.items()
        ]
        file = self.folder / "prefect.yaml"
        file.write_text(yaml.safe_dump({"name": "test", "build": None, "push": None, "pull": [], "deployments": blocks}))
        with temporary_settings({PREFECT_API_URL: self.api}):
            return deploying.deploy(file)

    def ask(self, question: Callable[[PrefectClient], Any]) -> Any:
        """Ask the server something."""

        async def run() -> Any:
            async with get_client() as client:
                return await question(client)

        with temporary_settings({PREFECT_API_URL: self.api}):
            return asyncio.run(run())

    def start(self, name: str, **parameters: Any) -> FlowRun:
        """Start a deployment's run, as the form does."""

        async def question(client: PrefectClient) -> FlowRun:
            flow, _, own = name.partition("/")
            deployment = await client.read_deployment_by_name(f"{flow}/{own}-{self.pool}")
            return await client.create_flow_run_from_deployment(deployment.id, parameters=parameters, state=Scheduled())

        found: FlowRun = self.ask(question)
        return found

    def read(self, run: FlowRun) -> FlowRun:
        found: FlowRun = self.ask(lambda client: client.read_flow_run(run.id))
        return found

    def finished(self, run: FlowRun, seconds: float = 120, attempts: int = 0) -> FlowRun:
        """Wait until a run has ended for the nth time."""
        return self.until(run, lambda r: r.state is not None and r.state.type.value in FINAL and r.run_count >= attempts, seconds)

    def until(self, run: FlowRun, holds: Callable[[FlowRun], bool], seconds: float = 120) -> FlowRun:
        """Wait until something holds of a run."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.read(run)
            if holds(found):
                return found
            time.sleep(0.3)
        raise AssertionError(f"waited {seconds} s for {found.name}: {found.state}")

    def retry(self, run: FlowRun) -> None:
        """Press Retry: what the UI's button sends."""
        from prefect.states import AwaitingRetry

        self.ask(lambda client: client.set_flow_run_state(run.id, AwaitingRetry(), force=True))

    def artifacts(self, run: FlowRun) -> list[Any]:
        """The run's artifacts, oldest first."""
        only = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
        found = self.ask(lambda client: client.read_artifacts(artifact_filter=only, limit=200))
        return sorted(found, key=lambda artifact: artifact.created)

    def task_runs(self, run: FlowRun) -> list[Any]:
        """The run's task runs, of all attempts."""
        only = FlowRunFilter(id=FlowRunFilterId(any_=[run.id]))
        found: list[Any] = self.ask(lambda client: client.read_task_runs(flow_run_filter=only, limit=200))
        return found

    def manifests(self) -> list[dict[str, Any]]:
        """The manifests in the store, oldest first."""
        return [json.loads(path.read_text()) for path in sorted((self.folder / "store" / "runs").glob("*/manifest.json"))]

    @contextlib.contextmanager
    def worker(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a process worker for the block."""
        log = (self.folder / "worker.log").open("ab")
        command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", self.pool, "--name", f"worker-{time.monotonic()}"]
        command += arguments
        process = subprocess.Popen(command, env={**self.environment, **environment}, stdout=log, stderr=log, cwd=self.folder)
        try:
            yield process
        finally:
            end(process)
            log.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for member in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
    process.wait()
