"""The API window against a bare aiohttp client, in one run: wall time of the window and CPU for each request.

``python -m benchmarks.api_window [--rows 1000] [--concurrency 64] [--latency 0.2] [--rounds 3]``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

from inference.answers import AnswerStore
from inference.inferencers.gen import GenInferencer
from inference.stage import infer, open_backend
from leaderflow.core.types import Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import model, prompts

Timing = tuple[float, float, float]
"""Seconds from the first request's arrival at the server to the last answer in the client, all seconds, CPU seconds."""


def timed(server: FakeOpenAI, work: Callable[[], Any]) -> Timing:
    server.reset()
    wall, cpu = time.time(), time.process_time()
    work()
    end, used = time.time(), time.process_time() - cpu
    return end - min(server.stats["times"]), end - wall, used


async def bare(url: str, questions: list[str], concurrency: int) -> None:
    """Post every question with a plain aiohttp session and a semaphore, and parse the replies."""
    places = asyncio.Semaphore(concurrency)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(question: str) -> str:
            async with places:
                body = {"model": "fake", "messages": [{"role": "user", "content": question}]}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    text: str = json.loads(await response.read())["choices"][0]["message"]["content"]
                    return text

        await asyncio.gather(*(one(question) for question in questions))


def stage(url: str, questions: list[str], concurrency: int) -> None:
    """Run the whole infer stage: window, answers store, table."""
    with tempfile.TemporaryDirectory() as folder:
        backend = open_backend(model(url, batch_size=concurrency))
        infer(prompts(questions), GenInferencer(), backend, AnswerStore(Path(folder), backend.identity), Settings())
        backend.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.api_window")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    questions = [f"{i}: " + "What is the sum of the digits of this question's number? " * 6 for i in range(args.rows)]
    server = FakeOpenAI(latency=args.latency)
    work: dict[str, Callable[[], Any]] = {
        "bare aiohttp": lambda: asyncio.run(bare(server.base_url, questions, args.concurrency)),
        "infer stage": lambda: stage(server.base_url, questions, args.concurrency),
    }
    try:
        found = {name: [timed(server, job) for _ in range(args.rounds)] for name, job in work.items()}
    finally:
        server.stop()
    medians = {name: [statistics.median(column) for column in zip(*rounds, strict=True)] for name, rounds in found.items()}
    for name, (window, wall, cpu) in medians.items():
        print(f"{name:14} window {window:6.2f} s  all {wall:6.2f} s  CPU {cpu / args.rows * 1e6:5.0f} us a request")
    print(f"window ratio {medians['infer stage'][0] / medians['bare aiohttp'][0]:.3f}")


if __name__ == "__main__":
    main()
