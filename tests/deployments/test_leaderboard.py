"""Nights of a leaderboard: history, what changed, alerts."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from prefect.client.schemas.objects import State
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.compare import compare
from flows.deploy import deploy
from flows.evaluate import evaluate
from flows.leaderboard import leaderboard
from flows.rescore import rescore
from leaderflow.core.store import Store
from reports.history import history
from tests.deployments.support import Site
from tests.fake_openai import FakeOpenAI

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("server")]


def run(site: Site, flow: Any, **parameters: Any) -> State[Any]:
    with temporary_settings({PREFECT_API_URL: site.api}):
        state: State[Any] = asyncio.run(flow(**parameters, return_state=True))
    return state


def texts(site: Site, key: str) -> list[str]:
    """The versions of an artifact, oldest first."""
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

    only = ArtifactFilter(key=ArtifactFilterKey(any_=[key]))
    found = site.ask(lambda client: client.read_artifacts(artifact_filter=only, limit=200))
    return [artifact.data for artifact in sorted(found, key=lambda artifact: artifact.created)]


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An address that takes alerts, and what it was sent."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/alerts", seen
    server.shutdown()
    server.server_close()
    thread.join()


def test_two_nights(site: Site, server: FakeOpenAI, tmp_path: Path, webhook: tuple[str, list[dict[str, Any]]]) -> None:
    address, seen = webhook
    with temporary_settings({PREFECT_API_URL: site.api}):
        deploy(webhook=address)
    first = run(site, leaderboard, suite="nightly")
    assert first.name == "Completed"
    assert texts(site, "changes-nightly")[-1].startswith("This is the first complete run")
    server.reset()
    second = run(site, leaderboard, suite="nightly")
    assert (second.name, server.stats["requests"]) == ("Completed", 0)
    assert "| fake:sums |" in texts(site, "changes-nightly")[-1]
    assert not seen, "nothing has changed"

    server.script(reply="I do not know.")
    third = run(site, leaderboard, suite="nightly", fresh=True)
    assert third.name == "Completed"
    report = texts(site, "changes-nightly")[-1]
    assert "significantly worse than run" in report
    assert "right→wrong" in report
    assert "| &lt;0.0001 |" in report
    assert "/runs/flow-run/" in report
    assert len(texts(site, "leaderboard-nightly")) >= 3
    deadline = time.monotonic() + 60
    while not seen and time.monotonic() < deadline:
        time.sleep(0.3)
    assert seen[0]["alert"] == "leaderflow.alert.regression"
    assert "fake:sums" in seen[0]["text"]
    rows = history(Store(tmp_path / "store"), "sums", suite="nightly")["rows"]
    assert len(rows) == 3, "a row a night and cell"

    server.reset()
    assert run(site, rescore).name == "Completed"
    assert server.stats["requests"] == 0
    compared = run(site, compare, left="latest~3", right="latest")
    assert compared.name == "Regression"
    assert "significantly worse" in str(compared.message)


WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "model": (evaluate, {"models": ["fakee"], "datasets": ["sums"]}, "did you mean 'fake'"),
    "dataset": (evaluate, {"models": ["fake"], "datasets": ["sumz"]}, "did you mean 'sums'"),
    "suite": (leaderboard, {"suite": "nightli"}, "did you mean 'nightly'"),
    "type": (evaluate, {"models": ["fake"], "datasets": ["sums"], "limit": "five"}, "limit: must be a whole number, not 'five'"),
    "key of the spec": (evaluate, {"models": ["fake"], "datasets": ["sums"], "spec": {"suit": "x"}}, "did you mean 'suite'"),
    "a file": (evaluate, {"models": ["fake"], "datasets": ["/etc/passwd.jsonl"]}, "only names of recipes"),
    "an address": (
        evaluate,
        {"models": ["fake"], "datasets": ["sums"], "settings": ["models.*.openai_api_base=http://evil"]},
        "honoured only in files that you name",
    ),
    "an address in a suite": (
        leaderboard,
        {"suite": "nightly", "settings": ["models.*.openai_api_base=http://evil"]},
        "honoured only in files that you name",
    ),
    "run": (rescore, {"run": "2020"}, "no run"),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_wrong_is_the_sentence_of_the_state(site: Site, server: FakeOpenAI, case: str) -> None:
    flow, parameters, words = WRONG[case]
    state = run(site, flow, **parameters)
    assert state.name == "Failed"
    assert words in str(state.message)
    assert "\n" not in str(state.message)
    assert server.stats["requests"] == 0
