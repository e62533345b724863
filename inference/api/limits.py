"""Requests and tokens per minute, for all processes of this machine that ask a model."""

from __future__ import annotations

import asyncio
import fcntl
import json
import math
import os
import struct
import time
from pathlib import Path

from leaderflow.core.identity import prompt_json, sha256_hex
from leaderflow.core.paths import home
from leaderflow.core.types import Request

PERIOD_S = 60.0
"""The minute that rates are told for."""

SLACK = 1.02
"""Requests reach the server now earlier, now later after they left: the period is kept so much longer."""

UNKNOWN_OUTPUT = 512
"""Tokens of an answer that has no limit."""

_BYTES_PER_TOKEN = 3

_FULL_AT = struct.Struct("d")


class RateLimits:
    """Two rates that hold over *any* 60 s: what may burst is taken off the steady rate.

    Args:
        rpm: requests a minute.
        tpm: tokens a minute, prompt and output; counted before sending: three bytes of the prompt as a token, and the token limit.
        account: what the rates are for. Runs with one account on one machine keep to them together; with
            ``LEADERFLOW_RATE_SHARE`` a process has a part of its own.
    """

    def __init__(self, rpm: int | None, tpm: int | None, account: str) -> None:
        own = f" {os.getpid()}" if os.environ.get("LEADERFLOW_RATE_SHARE") else ""
        folder, name = home() / "rates", sha256_hex(account + own)[:32]
        self._requests = Bucket(folder / f"{name}.requests", rpm, rpm // 20) if rpm else None
        self._tokens = Bucket(folder / f"{name}.tokens", tpm, tpm // 4) if tpm else None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self._requests is not None or self._tokens is not None

    async def wait(self, request: Request) -> None:
        """Wait until the request may leave.

        Raises:
            OSError: the state in ``LEADERFLOW_HOME`` cannot be kept.
        """
        if self._tokens is not None:
            await self._tokens.take(expected_tokens(request))
        if self._requests is not None:
            await self._requests.take(1)


class Bucket:
    """A leaky bucket as virtual scheduling (GCRA, ITU-T I.371): its whole state is the time at which it will be full again.

    That time, on the clock that all processes of a machine share, stands in a file. An amount above `burst` leaves only after the
    bucket has been full for as long as the rest takes, and counts whole afterwards, so that no 60 s before or after it hold more
    than `per_minute`. One amount above `per_minute` counts as that.

    Args:
        file: holds the state; made when first needed.
        per_minute: what may leave in any 60 s.
        burst: what may leave at once.
    """

    def __init__(self, file: Path, per_minute: int, burst: int) -> None:
        self._file, self._most, self._burst = file, per_minute, max(1, burst)
        self._rate = (per_minute - self._burst + 1) / (PERIOD_S * SLACK)
        self._turn = asyncio.Lock()  # one at a time, so that the first to come is the first to leave

    async def take(self, amount: int) -> None:
        """Wait until so much may leave."""
        async with self._turn:
            while (wait := self._try(min(amount, self._most))) > 0:
                await asyncio.sleep(wait)

    def _try(self, amount: int) -> float:
        """Take the amount, or return the seconds until it may be there."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(self._file, os.O_RDWR | os.O_CREAT), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            now, state = time.monotonic(), file.read(_FULL_AT.size)
            full_at = _FULL_AT.unpack(state)[0] if len(state) == _FULL_AT.size else math.inf
            if not full_at <= now + 3 * PERIOD_S:  # never used, by a clock that began anew with the machine, or no number at all
                full_at = -math.inf
            if (wait := full_at + (amount - self._burst) / self._rate - now) > 0:
                return wait
            file.seek(0)
            file.write(_FULL_AT.pack(max(full_at, now) + amount / self._rate))
            return 0.0


def expected_tokens(request: Request) -> int:
    """Return how many tokens a request may take."""
    return prompt_tokens(request) + (request.settings.max_out_len or UNKNOWN_OUTPUT)


def prompt_tokens(request: Request) -> int:
    """Return about how many tokens a prompt has, rather too many than too few."""
    return len(json.dumps(prompt_json(request.prompt), ensure_ascii=False).encode("utf-8", "replace")) // _BYTES_PER_TOKEN
