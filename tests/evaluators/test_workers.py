from __future__ import annotations

import os
import signal
import time

import pytest

from evaluators.workers import run_limited
from leaderflow.core.errors import LeaderflowError


def square(number: int) -> int:
    """Square a number; some numbers misbehave."""
    if number == 3:
        time.sleep(60)
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 5:
        raise ValueError(number)
    return number * number


def test_hanging_dying_and_raising_items_cost_only_themselves() -> None:
    assert run_limited(square, [(n,) for n in range(9)], limit=1.0, fallback=-1) == [0, 1, 4, -1, -1, -1, 36, 49, 64]
    assert run_limited(square, [(6,)], limit=1.0) == [36]
    assert run_limited(square, [], limit=1.0) == []


def broken() -> None:
    """A start that fails."""
    os._exit(3)


def test_a_worker_that_cannot_start_is_one_clear_line() -> None:
    with pytest.raises(LeaderflowError, match="a worker process of square did not start"):
        run_limited(square, [(1,)], limit=1.0, warm=broken)
