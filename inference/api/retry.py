"""When to ask again: bounded attempts, growing waits, and what the server says about it."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from inference.api.errors import Fault

FIRST_WAIT_S, LONGEST_BACKOFF_S = 0.5, 30.0

PATIENCE_S = 600.0
"""A server that asks for a longer wait has given its answer: the row fails at once and is asked again by the next run."""


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the wait in seconds that the headers ask for (RFC 9110: seconds or a date; ``retry-after-ms``), or None."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if (value := headers.get(name)) is None:
            continue
        try:
            return max(0.0, float(value) / unit)
        except ValueError:
            pass
        try:
            date = parsedate_to_datetime(value)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)  # the older forms of an HTTP date do not name the zone
            return max(0.0, date.timestamp() - (now or time.time()))
        except (ValueError, TypeError):
            continue
    return None


def wait_before(attempt: int, fault: Fault) -> float:
    """Return the seconds to wait after failed attempt number `attempt` (1-based): the server's wait is the lower bound.

    Raises:
        Fault: the server asks for more than `PATIENCE_S`.
    """
    asked = fault.retry_after or 0.0
    if asked > PATIENCE_S:
        raise Fault("sample", f"{fault.message}; the server asks to wait {_duration(asked)}, run the same command again after that")
    backoff = min(LONGEST_BACKOFF_S, FIRST_WAIT_S * 2.0 ** max(0, attempt - 1)) * random.uniform(0.5, 1.0)
    return max(backoff, asked + random.uniform(0.0, 0.1) if asked else 0.0)


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
