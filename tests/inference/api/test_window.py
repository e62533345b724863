from __future__ import annotations

import asyncio
import random

import pytest

from inference.api.window import Window


def test_no_more_than_size_at_once() -> None:
    async def main() -> int:
        window, peak = Window(5, "w"), 0

        async def one() -> None:
            nonlocal peak
            await window.acquire()
            peak = max(peak, window.in_flight)
            await asyncio.sleep(0)
            window.release()

        await asyncio.gather(*(one() for _ in range(50)))
        assert window.in_flight == 0
        return peak

    assert asyncio.run(main()) == 5


def test_a_retry_goes_first() -> None:
    async def main() -> list[str]:
        window, order = Window(1, "w"), list[str]()
        await window.acquire()

        async def one(name: str, first: bool) -> None:
            await window.acquire(first=first)
            order.append(name)
            window.release()

        tasks = [asyncio.create_task(one("new", False)), asyncio.create_task(one("retry", True))]
        await asyncio.sleep(0)
        window.release()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(main()) == ["retry", "new"]


def test_cancelled_waiters_take_no_place() -> None:
    async def main() -> None:
        window = Window(1, "w")
        await window.acquire()
        tasks = [asyncio.create_task(window.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        window.release()
        tasks[1].cancel()
        await asyncio.gather(*tasks[:2], return_exceptions=True)
        await asyncio.wait_for(tasks[2], 5)
        assert window.in_flight == 1

    asyncio.run(main())


def test_one_cut_for_all_refusals_of_one_window() -> None:
    async def main() -> int:
        window = Window(64, "w")
        epochs = [await window.acquire() for _ in range(64)]
        for epoch in epochs:
            window.overloaded(epoch)
        return window.limit

    assert asyncio.run(main()) == 32


def test_the_limit_stays_at_least_one() -> None:
    async def main() -> int:
        window = Window(4, "w")
        for _ in range(20):
            window.overloaded(await window.acquire())
            window.release()
        return window.limit

    assert asyncio.run(main()) == 1


def test_a_bigger_window_lets_waiters_in() -> None:
    async def main() -> None:
        window = Window(1, "w")
        await window.acquire()
        waiting = asyncio.create_task(window.acquire())
        await asyncio.sleep(0)
        window.resize(2)
        await asyncio.wait_for(waiting, 5)

    asyncio.run(main())


async def rounds(window: Window, hidden: int, count: int) -> list[int]:
    """Keep the window full against a server that refuses above `hidden` in flight; return the limit after each round."""
    limits = []
    for _ in range(count):
        epochs = [await window.acquire() for _ in range(window.limit)]
        for epoch in epochs[hidden:]:  # a refusal comes at once, a good reply later
            window.overloaded(epoch)
        for _ in epochs[:hidden]:
            window.healthy()
        for _ in epochs:
            window.release()
        limits.append(window.limit)
    return limits


@pytest.mark.parametrize("hidden", [1, 3, *random.Random(5).sample(range(20, 80), 6)])
def test_it_settles_near_a_hidden_limit_and_recovers(hidden: int) -> None:
    async def main() -> None:
        window = Window(128, "w")
        await rounds(window, hidden, 60)
        settled = await rounds(window, hidden, 60)
        mean = sum(settled) / len(settled)
        assert abs(mean - hidden) <= max(1, 0.2 * hidden), settled
        assert (await rounds(window, 10_000, 60))[-1] == 128

    asyncio.run(main())
