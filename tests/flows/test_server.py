from __future__ import annotations

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
