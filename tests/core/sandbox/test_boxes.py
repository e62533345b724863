"""The ladder: which box is taken, and what its command says."""

from __future__ import annotations

import pytest

from leaderflow.core.errors import SpecError, UsageError
from leaderflow.core.sandbox import Limits, Program, Suite, require, run, unsafe_code
from leaderflow.core.sandbox.boxes import Bare, Bubblewrap, Docker
from leaderflow.core.sandbox.runner import run_in


def test_bubblewrap_comes_first() -> None:
    assert isinstance(require(["python"]), Bubblewrap)
    with unsafe_code(True):
        assert isinstance(require(["python"]), Bubblewrap)


@pytest.mark.usefixtures("no_sandbox")
def test_without_a_box_programs_run_only_where_the_user_allows_it() -> None:
    for job in (Program("print(1)"), Suite(("def f(): return 1",), "assert f() == 1")):
        with pytest.raises(UsageError, match=r"install bubblewrap .* or start Docker .*--allow-unsafe-code"):
            run(job)
        with unsafe_code(True):
            assert isinstance(require([]), Bare)
            assert run(job).passed
        with pytest.raises(UsageError):
            run(job)


@pytest.mark.usefixtures("no_sandbox")
def test_bare_programs_have_limits_and_are_not_believed_either() -> None:
    with unsafe_code(True):
        assert run(Program("while True: pass"), Limits(seconds=1)).status == "timeout"
        assert run(Program("import time; time.sleep(60)"), Limits(wall=1)).status == "timeout"
        assert run(Program("x = 'a' * (1 << 34)")).status == "memory"
        assert run(Suite(("import os; os._exit(0)",), "assert f() == 1")).status == "crashed"


def test_a_language_is_refused_where_it_cannot_be_run() -> None:
    with pytest.raises(SpecError, match="did you mean 'bash'"):
        require(["bsh"])
    assert not Bubblewrap().has("no-such-compiler")


def test_docker_shuts_what_bubblewrap_shuts() -> None:
    command = " ".join(Docker("some/image").command("solution.py", Limits(processes=7)))
    for part in (
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "no-new-privileges",
        "--pids-limit 7",
        "--user 65534",
        "some/image",
    ):
        assert part in command


def test_docker_runs_programs() -> None:
    box = Docker()
    if not box.works():
        pytest.skip("no Docker daemon, or the image is absent")
    assert run_in(box, Suite(("def f(): return 1",), "assert f() == 1"), Limits()).passed
    assert run_in(box, Program("import time; time.sleep(60)"), Limits(wall=5)).status == "timeout"
