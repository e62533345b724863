"""A whole run over the fake API beside a bare aiohttp client: 1,000 samples, 200 ms, 64 in flight.

Prints the window (first request to last answer) of both, their ratio, and the CPU seconds of the leaderflow process, start-up and
Prefect client included.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, question, write_questions

SAMPLES, LATENCY, IN_FLIGHT = 1000, 0.2, 64


def window(server: FakeOpenAI) -> float:
    """Seconds from the first request to the last answer."""
    times: list[float] = server.stats["times"]
    return max(times) - min(times) + LATENCY


async def _bare(base_url: str) -> None:
    """Send what leaderflow would send, with nothing around it."""
    places = asyncio.Semaphore(IN_FLIGHT)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(i: int) -> None:
            body = {"model": "fake", "messages": [{"role": "user", "content": question(i)}], "max_tokens": 64}
            async with places, session.post(f"{base_url}/chat/completions", json=body) as response:
                await response.json()

        await asyncio.gather(*(ask(i) for i in range(SAMPLES)))


def leaderflow(spec: Path, home: Path, *options: str) -> tuple[dict[str, Any], float, float]:
    """Run the command; returns its JSON, wall and CPU seconds."""
    environment = {**os.environ, "LEADERFLOW_HOME": str(home), "LEADERFLOW_STORE": str(home / "store")}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "leaderflow", "run", str(spec), "--json", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
    return json.loads(done.stdout), wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    server = FakeOpenAI(latency=LATENCY, reply="The answer is {number}.")
    try:
        with tempfile.TemporaryDirectory() as folder:
            _measure(server, Path(folder))
    finally:
        server.stop()


def _measure(server: FakeOpenAI, folder: Path) -> None:
    file = write_questions(folder / "sums.jsonl", range(SAMPLES))
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"models": [model(server, batch_size=IN_FLIGHT)], "datasets": [dataset(file)]}))
    environment = {**os.environ, "LEADERFLOW_HOME": str(folder / "home")}
    subprocess.run([sys.executable, "-m", "leaderflow", "server", "start"], env=environment, check=True, capture_output=True)
    try:
        for name, options in (("with Prefect", ()), ("--no-server", ("--no-server",))):
            server.reset()
            asyncio.run(_bare(server.base_url))
            bare = window(server)
            server.reset()
            result, wall, cpu = leaderflow(spec, folder / "home", "--fresh", *options)
            own = window(server)
            windows = f"window {own:.2f} s, bare client {bare:.2f} s, ratio {own / bare:.2f}"
            print(f"{name:>13}: {windows}; wall {wall:.1f} s, CPU {cpu:.1f} s; {result['requests']['sent']} requests")
        result, wall, cpu = leaderflow(spec, folder / "home")
        print(f"    run again: {result['requests']['sent']} requests, wall {wall:.1f} s, CPU {cpu:.1f} s")
    finally:
        subprocess.run([sys.executable, "-m", "leaderflow", "server", "stop"], env=environment, check=True, capture_output=True)


if __name__ == "__main__":
    main()
