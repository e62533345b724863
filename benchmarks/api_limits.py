"""How the API window meets limits that the server keeps to itself, and how two processes keep a rate together.

For each hidden limit of requests in flight: the mean window once it has settled, and how long after the limit was lifted the window
is full again. For each rate: the most that two processes sent, or that their requests may cost, in any 60 s.

``python -m benchmarks.api_limits [--limits 20,35,50,80] [--seconds 20] [--minutes 2]``
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from inference.api.backend import OpenAISDK
from leaderflow.core.types import Prompt, Request, Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import model

ROOT = Path(__file__).resolve().parents[1]
LATENCY_S = 0.5
"""Long enough that a busy machine keeps a full window under way at the server."""
WINDOW = 128

ASK = """
import sys
from benchmarks.api_limits import ask
ask(sys.argv[1], float(sys.argv[2]), **{sys.argv[3]: int(sys.argv[4])})
"""


def ask(url: str, seconds: float, **fields: int) -> None:
    """Ask questions until the time is over."""
    backend, end = OpenAISDK(model(url, batch_size=WINDOW, retries=50, **fields)), time.monotonic() + seconds
    asked = questions(Settings(max_out_len=200))
    threading.Timer(seconds, lambda: backend.halt("over")).start()
    for _ in backend.generate(asked):
        if time.monotonic() > end:
            break
    backend.close()


def questions(settings: Settings) -> list[Request]:
    """Return more of them than there is time for."""
    return [Request(str(n), Prompt(messages=({"role": "user", "content": f"{n}"},)), settings) for n in range(20_000)]


def settled(server: FakeOpenAI, hidden: int, seconds: float) -> tuple[float, float]:
    """Return the mean window in the second half of the time under a hidden limit, and the seconds until it is full after it."""
    server.script(latency=LATENCY_S, limit=hidden)
    backend = OpenAISDK(model(server.base_url, batch_size=WINDOW, retries=50))
    asked = questions(Settings())
    thread = threading.Thread(target=lambda: list(backend.generate(asked)))
    thread.start()
    time.sleep(seconds / 2)
    seen = []
    for _ in range(100):
        time.sleep(seconds / 200)
        seen.append(backend._client._attached().window.limit)
    server.script(limit=None)
    lifted = time.monotonic()
    while backend._client._attached().window.limit < WINDOW and time.monotonic() - lifted < 120:
        time.sleep(0.1)
    backend.halt("over")
    thread.join()
    backend.close()
    return statistics.mean(seen), time.monotonic() - lifted


def most_in_a_minute(server: FakeOpenAI, field: str, value: int, seconds: float) -> int:
    """Return the most requests that two processes sent in any 60 s."""
    server.script(latency=LATENCY_S, limit=None)
    server.reset()
    command = [sys.executable, "-c", ASK, server.base_url, str(seconds), field, str(value)]
    processes = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    for process in processes:
        process.wait()
    times = sorted(server.stats["times"])
    return max(sum(start <= later <= start + 60 for later in times) for start in times)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.api_limits")
    parser.add_argument("--limits", default="20,35,50,80")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=2)
    args = parser.parse_args()
    server = FakeOpenAI()
    try:
        for hidden in map(int, args.limits.split(",")):
            mean, recovered = settled(server, hidden, args.seconds)
            print(
                f"hidden limit {hidden}: window {mean:.1f} ({mean / hidden - 1:+.0%}), full again after {recovered:.1f} s",
                flush=True,
            )
        for field, value in (("rpm", 120), ("tpm", 24_000)) if args.minutes else ():
            most = most_in_a_minute(server, field, value, 60 * args.minutes)
            print(f"two processes with {field} {value}: at most {most} requests in any 60 s", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
