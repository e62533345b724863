"""The custom-run form, filled in and submitted in a real browser."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
from prefect.client.schemas.objects import FlowRun

from tests.deployments.browser import Browser, browser
from tests.deployments.support import Site
from tests.fake_openai import FakeOpenAI
from tests.flows.support import model

pytestmark = [
    pytest.mark.slow_prefect,
    pytest.mark.server,
    pytest.mark.xdist_group("server"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]

ON_DEMAND = {"entrypoint": "flows.evaluate.evaluate", "parameters": {"models": ["fake"], "datasets": ["sums"], "range": "[:20]"}}


def submitted(page: Browser, site: Site, known: set[Any], **entries: str) -> FlowRun:
    """Fill in the form, submit it, and return the run that it started."""

    async def deployment(client: Any) -> Any:
        return (await client.read_deployment_by_name(f"evaluate/on-demand-{site.pool}")).id

    own = site.ask(deployment)
    page.open(f"{site.api.removesuffix('/api')}/v2/deployments/deployment/{own}/run")
    for name, text in entries.items():
        page.fill(name, text)
    page.press("Submit")
    only, deadline = DeploymentFilter(id=DeploymentFilterId(any_=[own])), time.monotonic() + 60
    while time.monotonic() < deadline:
        runs = site.ask(lambda client: client.read_flow_runs(deployment_filter=only))
        if new := [run for run in runs if run.id not in known]:
            known.add(new[0].id)
            found: FlowRun = new[0]
            return found
        time.sleep(0.3)
    raise AssertionError("the form started nothing")


def test_the_form_starts_a_run(site: Site, server: FakeOpenAI, tmp_path: Path) -> None:
    second = {**model(server), "abbr": "second", "path": "second"}
    (tmp_path / "recipes" / "models" / "second.yaml").write_text(yaml.safe_dump(second))
    site.deploy(**{"on-demand": ON_DEMAND})
    known: set[Any] = set()
    with site.worker(), browser(tmp_path / "profile") as page:
        run = site.finished(submitted(page, site, known, models="second", datasets="sums", range="[5:12]"))
        assert run.state is not None
        assert (run.state.name, run.name) == ("Completed", "sums · second")
        assert run.parameters["range"] == "[5:12]"
        assert server.stats["requests"] == 7
        wrong = site.finished(submitted(page, site, known, models="secnd"))
        assert wrong.state is not None
        assert wrong.state.name == "Failed"
        assert "did you mean 'second'" in str(wrong.state.message)
