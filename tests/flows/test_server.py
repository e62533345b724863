from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from flows import server

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("server")]


def test_the_local_server_starts_once_is_reused_and_stops(tmp_path: Path) -> None:
    assert server.status() is None
    first = server.start()
    try:
        assert server.healthy(first.api)
        assert server.start() == first, "a second start finds the first"
        assert server.status() == first
        assert (tmp_path / "home" / "prefect" / "prefect.db").exists()
    finally:
        assert server.stop()
    assert not first.alive()
    assert not server.healthy(first.api)
    assert not server.stop(), "nothing left to stop"


def test_a_pid_of_another_process_is_not_our_server(tmp_path: Path) -> None:
    import os

    home = tmp_path / "home"
    home.mkdir()
    (home / "server.json").write_text(server.Server(pid=os.getpid(), port=1, created=1.0).model_dump_json())
    assert server.status() is None


class Healthy(BaseHTTPRequestHandler):
    """Answers as a Prefect server of somebody else does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_port_that_another_server_took_meanwhile_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = server._free_port
    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        taken = [stranger.server_port]
        monkeypatch.setattr(server, "_free_port", lambda: taken.pop() if taken else free())
        started = server.start()
        try:
            assert started.port != stranger.server_port
            assert started.listens()
        finally:
            server.stop()
            stranger.shutdown()
