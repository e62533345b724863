"""An OpenAI-compatible server in a process of its own, on loopback, with scripted latency and faults, and counters.

``from tests.fake_openai import fake_openai`` in a conftest.py makes the fixture known; it gives a `FakeOpenAI`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


class FakeOpenAI:
    """A running fake server, on a free port or the given one. Keyword arguments are fields of `script.Script`."""

    def __init__(self, *, port: int = 0, **script: Any) -> None:
        command = [sys.executable, "-m", "tests.fake_openai", "--port", str(port)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.base_url = self._process.stdout.readline().strip()
        self.script(**script)

    @property
    def pid(self) -> int:
        return self._process.pid

    def script(self, **changes: Any) -> None:
        """Change fields of the script; the others stay."""
        self._post({"script": changes})

    def always(self, *replies: Any, **conditions: Any) -> None:
        """Make one rule the only one: reply n (a mapping or a fault's name) to attempt n."""
        self.script(rules=[{"replies": list(replies), **conditions}])

    def heal(self) -> None:
        """From now on every reply is good."""
        self.script(rules=[], limit=None)

    def reset(self) -> None:
        """Set the counters to zero."""
        self._post({"reset": True})

    @property
    def stats(self) -> dict[str, Any]:
        """requests, in_flight, peak, statuses, attempts (by prompt), times, prompt_times, bodies."""
        with urllib.request.urlopen(f"{self._root}/stats", timeout=10) as response:
            found: dict[str, Any] = json.load(response)
            return found

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def _root(self) -> str:
        return self.base_url.removesuffix("/v1")

    def _post(self, order: dict[str, Any]) -> None:
        request = urllib.request.Request(f"{self._root}/control", data=json.dumps(order).encode(), method="POST")
        urllib.request.urlopen(request, timeout=10).close()


@pytest.fixture(scope="session")
def _fake_openai_server() -> Iterator[FakeOpenAI]:
    server = FakeOpenAI()
    yield server
    server.stop()


@pytest.fixture
def fake_openai(_fake_openai_server: FakeOpenAI) -> FakeOpenAI:
    """The server, as new: default script, counters at zero."""
    from tests.fake_openai.script import Script

    _fake_openai_server.script(**Script().json())
    _fake_openai_server.reset()
    return _fake_openai_server
