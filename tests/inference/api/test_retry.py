from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inference.api.errors import Fault
from inference.api.retry import LONGEST_BACKOFF_S, retry_after, wait_before

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "75"}, 75),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Tue, 01 Jan 2030 12:00:03 GMT"}, 3),
        ({"retry-after": "Tue, 01 Jan 2030 11:00:00 GMT"}, 0),
        ({"retry-after": "Tuesday, 01-Jan-30 12:00:03 GMT"}, 3),
        ({"retry-after": "Tue Jan  1 12:00:03 2030"}, 3),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, 0),
    ],
)
def test_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers, NOW) == expected


def test_the_servers_wait_is_a_lower_bound() -> None:
    assert 75 <= wait_before(1, Fault("retryable", "x", retry_after=75.0)) <= 75.1


def test_waits_grow_and_are_bounded() -> None:
    waits = [max(wait_before(n, Fault("retryable", "x")) for _ in range(50)) for n in (1, 3, 20)]
    assert waits[0] <= 0.5 < waits[1] <= 2.0 < waits[2] <= LONGEST_BACKOFF_S


def test_hours_are_given_up_at_once() -> None:
    with pytest.raises(Fault, match=r"slow down; the server asks to wait 3\.0 h"):
        wait_before(1, Fault("retryable", "slow down", retry_after=10_800.0))
