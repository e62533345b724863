"""What is deployed, and what is refused before anything is."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.api import evaluate
from flows.deploy import checked, deploy
from leaderflow.core.errors import LeaderflowError, UsageError
from leaderflow.core.paths import data_file
from leaderflow.core.yaml import load_yaml
from tests.deployments.support import Site
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions

SHIPPED = data_file("deployments") / "prefect.yaml"
GOOD: dict[str, Any] = {
    "name": "nightly",
    "entrypoint": "flows.leaderboard.leaderboard",
    "parameters": {"suite": "demo"},
    "schedules": [{"cron": "0 2 * * *", "timezone": "Europe/Berlin"}],
    "work_pool": {"name": "pool"},
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "time zone": ({"schedules": [{"cron": "0 2 * * *"}]}, "needs a timezone"),
    "type": ({"parameters": {"suite": "demo", "limit": "foobar"}}, "limit: must be a whole number, not 'foobar'"),
    "a number in quotes": ({"parameters": {"suite": "demo", "repeats": "3"}}, "repeats: must be a whole number, not '3'"),
    "a word for a switch": ({"parameters": {"suite": "demo", "fresh": "yes"}}, "fresh: must be true or false, not 'yes'"),
    "unknown parameter": ({"parameters": {"suite": "demo", "limitt": 5}}, "no parameter 'limitt'"),
    "suite": ({"parameters": {"suite": "demmo"}}, "did you mean 'demo'"),
    "model": ({"parameters": {"suite": "demo", "models": ["smollm2-135"]}}, "did you mean 'smollm2-135m'"),
    "setting": ({"parameters": {"suite": "demo", "settings": ["infer_cgf.x=1"]}}, "infer_cgf"),
    "age": ({"parameters": {"suite": "demo", "max_age": "soon"}}, "'soon' is no time"),
    "both": ({"parameters": {"suite": "demo", "limit": 5, "range": "[:5]"}}, "exclude each other"),
    "flow": ({"entrypoint": "flows.leaderboard.leaderbord"}, "is no flow"),
    "module": ({"entrypoint": "flows.leaderbord.leaderboard"}, "is no flow"),
    "pool": ({"work_pool": {}}, "needs a work pool"),
}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "prefect.yaml"
    path.write_text(yaml.safe_dump({"deployments": [{**GOOD, **changes}], "pull": [], "build": None, "push": None}))
    return path


def test_the_shipped_file_is_good() -> None:
    names = [block.value["name"] for block in checked(load_yaml(SHIPPED))]
    assert {"nightly", "weekly", "on-demand", "rescore"} <= set(names)


@pytest.mark.parametrize("case", list(BAD))
def test_what_would_fail_at_night_is_refused_now(tmp_path: Path, case: str) -> None:
    changes, words = BAD[case]
    with pytest.raises(UsageError) as error:
        deploy(written(tmp_path, **changes))
    assert words in str(error.value)
    assert "prefect.yaml:" in str(error.value)


@pytest.mark.server
@pytest.mark.xdist_group("server")
def test_deploying_twice_gives_one_of_each(prefect_server: str) -> None:
    with temporary_settings({PREFECT_API_URL: prefect_server}):
        first = deploy(webhook="http://127.0.0.1:9/alerts")
        second = deploy()
    assert first == second
    assert {"leaderboard/nightly", "leaderboard/weekly", "evaluate/on-demand", "rescore/rescore"} <= set(first.deployments)
    assert len(first.automations) == 2


@pytest.mark.server
@pytest.mark.xdist_group("server")
def test_a_wrong_type_in_the_form_starts_nothing(site: Site) -> None:
    from prefect.exceptions import PrefectHTTPStatusError

    site.deploy(form={"entrypoint": "flows.evaluate.evaluate"})
    with pytest.raises(PrefectHTTPStatusError, match=r"(?s)409.*limit.*foobar|foobar.*limit"):
        site.start("evaluate/form", models=["fake"], datasets=["sums"], limit="foobar")


def test_a_dead_server_is_one_line(tmp_path: Path) -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}), pytest.raises(LeaderflowError, match="does not answer"):
        deploy(written(tmp_path))


@contextlib.contextmanager
def server_of(version: str) -> Iterator[str]:
    """Answer as a Prefect server of that version does, as far as anybody asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(version).encode() if self.path.endswith("/version") else b"true"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    other = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=other.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{other.server_port}/api"
    finally:
        other.shutdown()
        other.server_close()
        thread.join()


@pytest.mark.parametrize("version", ["3.1.0", "2.20.1", "4.0.0"])
def test_a_server_of_another_version_is_one_line(tmp_path: Path, server: FakeOpenAI, version: str) -> None:
    words = rf"is {re.escape(version)}, and this client is 3\."
    file = write_questions(tmp_path / "sums.jsonl", range(2))
    with server_of(version) as api, temporary_settings({PREFECT_API_URL: api}):
        with pytest.raises(LeaderflowError, match=words):
            deploy(written(tmp_path))
        with pytest.raises(LeaderflowError, match=words):
            evaluate(spec([model(server)], [dataset(file)]))
    assert server.stats["requests"] == 0
