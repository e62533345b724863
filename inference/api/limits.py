"""Requests and tokens per minute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from leaderflow.core.identity import prompt_json
from leaderflow.core.types import Request

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

PERIOD_S = 60.0
"""The minute that rates are told for."""

UNKNOWN_OUTPUT = 512
"""Tokens of an answer that has no limit."""

_BYTES_PER_TOKEN = 3


class RateLimits:
    """Two token buckets that hold over *any* 60 s: what may burst is taken off the steady rate.

    Args:
        rpm: requests a minute.
        tpm: tokens a minute, prompt and output; counted before sending: three bytes of the prompt as a token, and the token limit.
    """

    def __init__(self, rpm: int | None, tpm: int | None) -> None:
        self._requests = _bucket(rpm, rpm // 20 if rpm else 0)
        self._tokens = _bucket(tpm, tpm // 4 if tpm else 0)

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self._requests is not None or self._tokens is not None

    async def wait(self, request: Request) -> None:
        """Wait until the request may leave."""
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            await self._tokens.acquire(min(expected_tokens(request), self._tokens.max_rate))


def expected_tokens(request: Request) -> int:
    """Return how many tokens a request may take."""
    return prompt_tokens(request) + (request.settings.max_out_len or UNKNOWN_OUTPUT)


def prompt_tokens(request: Request) -> int:
    """Return about how many tokens a prompt has, rather too many than too few."""
    return len(json.dumps(prompt_json(request.prompt), ensure_ascii=False).encode("utf-8", "replace")) // _BYTES_PER_TOKEN


def _bucket(per_minute: int | None, burst: int) -> AsyncLimiter | None:
    if per_minute is None:
        return None
    from aiolimiter import AsyncLimiter

    burst = max(1, burst)
    steady = max(per_minute - burst, 1)
    return AsyncLimiter(burst, PERIOD_S * burst / steady)
