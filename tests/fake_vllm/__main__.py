"""A stand-in for vLLM's OpenAI server: its command line, its routes, and scripted trouble.

It takes token ids, answers every prompt with a text that its ids' hash picks, and gives token k of a prompt the log-probability
−(k mod 7)/10. Trouble comes from the environment: FAKE_VLLM_SLOW (seconds before it is healthy), FAKE_VLLM_CRASH (a message to end
with while starting), FAKE_VLLM_DIE_AFTER (requests after which it is killed by itself, once per file FAKE_VLLM_DIED),
FAKE_VLLM_LATENCY (seconds for one request), FAKE_VLLM_STARTS (a file that gets a line with pids at each start), FAKE_VLLM_BODIES (a
file that gets what is asked). It has a child process, as vLLM has its engine.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from aiohttp import web

ENV = os.environ.get


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", required=True)
    for name in ("served-model-name", "generation-config", "dtype", "quantization", "lora-modules"):
        parser.add_argument(f"--{name}")
    for name in ("max-model-len", "tensor-parallel-size", "data-parallel-size", "max-num-seqs", "max-lora-rank"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--gpu-memory-utilization", type=float)
    for name in ("enforce-eager", "enable-prefix-caching"):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction)
    parser.add_argument("--enable-lora", action="store_true")
    return parser.parse_args()


class FakeVLLM:
    def __init__(self) -> None:
        self.ready_at = time.monotonic() + float(ENV("FAKE_VLLM_SLOW") or 0)
        self.served = 0

    async def health(self, request: web.Request) -> web.Response:
        return web.Response(status=200 if time.monotonic() >= self.ready_at else 503)

    async def completions(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.served += 1
        if bodies := ENV("FAKE_VLLM_BODIES"):
            with open(bodies, "a", encoding="utf-8") as file:
                file.write(json.dumps(body) + "\n")
        self._maybe_die()
        if latency := float(ENV("FAKE_VLLM_LATENCY") or 0):
            await asyncio.sleep(latency)
        ids: list[int] = body["prompt"]
        text = f"The answer is {int(hashlib.sha256(repr(ids).encode()).hexdigest()[:6], 16) % 1000}."
        choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": "stop"}
        if "prompt_logprobs" in body:
            entries = [{str(token): {"logprob": -(token % 7) / 10, "rank": 1, "decoded_token": "x"}} for token in ids]
            choice["prompt_logprobs"] = [None, *entries[1:]]
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": len(ids), "completion_tokens": 4}})

    def _maybe_die(self) -> None:
        limit, mark = ENV("FAKE_VLLM_DIE_AFTER"), Path(ENV("FAKE_VLLM_DIED") or os.devnull)
        if limit and self.served > int(limit) and (mark == Path(os.devnull) or not mark.exists()):
            if mark != Path(os.devnull):
                mark.touch()
            print("RuntimeError: CUDA error: an illegal memory access was encountered", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    args = arguments()
    engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    if starts := ENV("FAKE_VLLM_STARTS"):
        with open(starts, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {engine.pid} {args.port} {ENV('CUDA_VISIBLE_DEVICES') or '-'}\n")
    if reason := ENV("FAKE_VLLM_CRASH"):
        print("Traceback (most recent call last):\n  File ...\n" + reason, flush=True)
        os._exit(1)
    fake = FakeVLLM()
    app = web.Application(client_max_size=2**26)
    app.router.add_get("/health", fake.health)
    app.router.add_post("/v1/completions", fake.completions)
    web.run_app(app, host=args.host, port=args.port, access_log=None, print=None)


if __name__ == "__main__":
    main()
