from __future__ import annotations

import pytest

from leaderflow import __version__
from leaderflow.cli.main import report
from leaderflow.core.errors import BackendError, SpecError

from .conftest import Cli


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version").out == f"{__version__}\n"
    for command in ("run", "preview", "list", "runs", "show", "trace", "why", "models", "server"):
        assert cli(command, "--help").code == 0
        assert command in cli("--help").out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["list", "nix"], "'nix' is not one of 'datasets'"),
        (["list"], "Missing argument"),
        (["nix"], "No such command 'nix'"),
        (["run", "--limit", "0"], "--limit"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(arguments: list[str], line: str, cli: Cli) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert line in ran.err
    assert ran.err.startswith("leaderflow: ")
    assert ran.err.count("\n") == 1
    assert "--help` tells more" in ran.err


def test_nothing_asked_shows_the_help(cli: Cli) -> None:
    for arguments in ([], ["server"]):
        ran = cli(*arguments)
        assert "Usage: leaderflow" in ran.out + ran.err
        assert "leaderflow: " not in ran.err


def test_wrong_usage_is_exit_code_2(cli: Cli) -> None:
    assert cli("run", "--no-such-option").code == 2
    assert cli("nonsense").code == 2
    assert cli("show", "--sample").code == 2


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (SpecError("bad\nthing", file="f.yaml", line=3, key="a.b"), 2, "leaderflow: f.yaml:3: a.b: bad thing\n"),
        (BackendError("[/INST] \x1b[31m refused"), 1, "leaderflow: [/INST] \\x1b[31m refused\n"),
        (ExceptionGroup("all", [OSError("x"), ExceptionGroup("in", [SpecError("inner")])]), 2, "leaderflow: inner\n"),
        (TypeError("oops"), 1, "leaderflow: internal error: TypeError: oops (add --debug for the trace)\n"),
    ],
)
def test_an_error_is_one_line(error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(error) == code
    assert capsys.readouterr().err == line


def test_the_server_is_not_started_by_asking_for_it(cli: Cli) -> None:
    ran = cli("server", "status")
    assert ran.code == 1
    assert "no local server" in ran.out
    assert "no local server" in cli("server", "stop").out


def test_an_unknown_model_to_fetch(cli: Cli) -> None:
    ran = cli("models", "get", "smollm2-135")
    assert ran.code == 2
    assert "smollm2-135m" in ran.err
