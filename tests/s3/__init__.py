"""An S3 server (moto) in a process of its own, on loopback.

``from tests.s3 import _s3_server, s3`` makes the fixture `s3` known: a bucket of the test's own.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.ports import free_port


@dataclass(frozen=True)
class Bucket:
    """A bucket of a running server."""

    address: str
    name: str = field(default_factory=lambda: f"bucket-{uuid.uuid4().hex[:8]}")

    def uri(self, prefix: str = "team/store", bucket: str | None = None, login: str = "") -> str:
        return f"s3://{login}{bucket or self.name}/{prefix}?endpoint_override={self.address}&scheme=http"

    def make(self) -> None:
        self.ask("PUT")

    def remove(self) -> None:
        """Remove the bucket if it is empty."""
        self.ask("DELETE")

    def ask(self, method: str) -> None:
        request = urllib.request.Request(f"http://{self.address}/{self.name}", method=method)
        urllib.request.urlopen(request, timeout=30).close()


@pytest.fixture(scope="session")
def _s3_server() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(process, port)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=5).close()
        except urllib.error.URLError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the S3 server did not start")


@pytest.fixture
def s3(_s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """An empty bucket, and credentials for it in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-key-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    bucket = Bucket(_s3_server)
    bucket.make()
    return bucket
