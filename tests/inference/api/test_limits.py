"""Rates that hold over any minute, whoever asks: simulated on a clock of our own, then with two processes."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inference.api import limits
from inference.api.limits import Bucket, RateLimits, expected_tokens
from leaderflow.core.types import Prompt, Request, Settings

ROOT = Path(__file__).resolve().parents[3]


def leave(file: Path, per_minute: int, burst: int, amounts: list[int], monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, int]]:
    """When each amount leaves (seconds), one after the other, on a clock that only waiting moves."""
    clock = [1000.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock[0])
    bucket, left = Bucket(file, per_minute, burst), []
    for amount in amounts:
        while (wait := bucket._try(min(amount, per_minute))) > 0:
            clock[0] += wait + 1e-6
        left.append((clock[0], amount))
    monkeypatch.undo()
    return left


def most_in_a_minute(left: list[tuple[float, int]]) -> int:
    return max(sum(amount for when, amount in left if start <= when <= start + 60) for start, _ in left)


@pytest.mark.parametrize("rpm", [1, 2, 7, 60, 500])
def test_requests_hold_over_any_minute_and_use_it(rpm: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = leave(tmp_path / "b", rpm, rpm // 20, [1] * (4 * rpm + 3), monkeypatch)
    assert most_in_a_minute(left) <= rpm
    assert (left[-1][0] - left[0][0]) / 60 <= 4.4 + 3 / rpm


@pytest.mark.parametrize("seed", range(6))
def test_tokens_hold_over_any_minute_whatever_their_sizes(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, tpm = random.Random(seed), 10_000
    amounts = [draw.choice([draw.randint(1, 300), draw.randint(1000, 4000), draw.randint(4000, tpm)]) for _ in range(120)]
    left = leave(tmp_path / "b", tpm, tpm // 4, amounts, monkeypatch)
    assert most_in_a_minute(left) <= tpm
    minutes = (left[-1][0] - left[0][0]) / 60
    assert sum(amounts) / minutes >= 0.45 * tpm  # large ones wait alone; small ones use three quarters and more


def test_a_request_above_the_whole_rate_leaves_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = leave(tmp_path / "b", 1000, 250, [5000, 5000], monkeypatch)
    assert left[1][0] - left[0][0] >= 60


def test_a_clock_that_began_anew_does_not_wait_for_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(limits._FULL_AT.pack(time.monotonic() + 1e6))
    assert Bucket(tmp_path / "b", 60, 3)._try(1) == 0


@pytest.mark.parametrize(
    "state", [b"", b"cut", limits._FULL_AT.pack(float("nan")), limits._FULL_AT.pack(float("-inf")), b"x" * 100]
)
def test_a_damaged_state_counts_as_none(state: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b").write_bytes(state)
    assert most_in_a_minute(leave(tmp_path / "b", 60, 3, [1] * 100, monkeypatch)) <= 60


def test_the_tokens_of_a_request() -> None:
    prompt = Prompt(text="x" * 300)
    assert (
        expected_tokens(Request("k", prompt, Settings(max_out_len=50)))
        - expected_tokens(Request("k", prompt, Settings(max_out_len=20)))
        == 30
    )
    assert expected_tokens(Request("k", prompt, Settings())) >= 100 + 512


def test_a_wait_that_is_given_up_takes_nothing(tmp_path: Path) -> None:
    async def main() -> float:
        bucket = Bucket(tmp_path / "b", 60, 1)
        await bucket.take(1)
        waiting = [asyncio.create_task(bucket.take(1)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return bucket._try(1)

    assert 0 < asyncio.run(main()) <= 60 / 60 * limits.SLACK


ASK = """
import asyncio, sys, time
from inference.api import limits
from leaderflow.core.types import Prompt, Request, Settings
limits.PERIOD_S = 3.0
async def main():
    rates = limits.RateLimits(60, None, "account")
    for _ in range(50):
        await rates.wait(Request("k", Prompt(text="q"), Settings()))
        print(time.monotonic(), flush=True)
asyncio.run(main())
"""


def test_two_processes_keep_to_one_rate(tmp_path: Path) -> None:
    asking = [subprocess.Popen([sys.executable, "-c", ASK], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    times = sorted(float(line) for process in asking for line in process.communicate(timeout=60)[0].split())
    assert len(times) == 100
    assert max(sum(start <= later <= start + 3.0 for later in times) for start in times) <= 60


def test_a_process_with_a_share_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def file(account: str) -> Path:
        bucket = RateLimits(10, 10, account)._requests
        assert bucket is not None
        return bucket._file

    together, other = file("a"), file("b")
    monkeypatch.setenv("LEADERFLOW_RATE_SHARE", "0.5")
    assert len({together, other, file("a")}) == 3
