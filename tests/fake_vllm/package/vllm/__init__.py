"""A stand-in for the package vLLM: what the offline engine uses of it, and trouble as for the stand-in of the server.

It knows every prompt's answer at once, and gives token k of a prompt the log-probability −(k mod 7)/10.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from vllm.sampling_params import SamplingParams

__all__ = ["LLM", "SamplingParams"]
__version__ = "0.32.0"

ENV = os.environ.get
KNOWN = {
    "model",
    "served_model_name",
    "generation_config",
    "dtype",
    "max_model_len",
    "enable_lora",
    "max_lora_rank",
    "max_num_seqs",
}


class LLM:
    def __init__(self, **arguments: Any) -> None:
        print("INFO: this line is for the log", flush=True)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        if starts := ENV("FAKE_VLLM_STARTS"):
            with open(starts, "a", encoding="utf-8") as file:
                file.write(f"{os.getpid()} {child.pid} - {ENV('CUDA_VISIBLE_DEVICES') or '-'}\n")
        if reason := ENV("FAKE_VLLM_CRASH"):
            print(f"Traceback (most recent call last):\n  File ...\n{reason}", file=sys.stderr, flush=True)
            os._exit(1)
        if unknown := set(arguments) - KNOWN:
            raise TypeError(f"EngineArgs.__init__() got an unexpected keyword argument {min(unknown)!r}")
        time.sleep(float(ENV("FAKE_VLLM_SLOW") or 0))
        self.llm_engine = Engine(arguments.get("max_model_len") or 512)


class Engine:
    def __init__(self, longest: int) -> None:
        self.longest, self.running, self.served = longest, {}, 0

    def add_request(self, request_id: str, prompt: Any, params: SamplingParams, lora_request: Any = None) -> None:
        if len(prompt["prompt_token_ids"]) > self.longest:
            raise ValueError(f"The decoder prompt is longer than the maximum model length of {self.longest}.")
        self.running[request_id] = (prompt["prompt_token_ids"], params)
        if bodies := ENV("FAKE_VLLM_BODIES"):
            with open(bodies, "a", encoding="utf-8") as file:
                file.write(json.dumps({**vars(params), "output_kind": None}) + "\n")

    def abort_request(self, request_ids: list[str]) -> None:
        for request_id in request_ids:
            self.running.pop(request_id, None)

    def has_unfinished_requests(self) -> bool:
        return bool(self.running)

    def step(self) -> list[Any]:
        print("INFO: a step", flush=True)
        time.sleep(float(ENV("FAKE_VLLM_LATENCY") or 0))
        done, self.running = self.running, {}
        return [self._output(request_id, ids, params) for request_id, (ids, params) in done.items()]

    def _output(self, request_id: str, ids: list[int], params: SamplingParams) -> Any:
        self.served += 1
        self._maybe_die()
        text = f"The answer is {int(hashlib.sha256(repr(ids).encode()).hexdigest()[:6], 16) % 1000}."
        said = SimpleNamespace(text=text, finish_reason="stop", token_ids=[1, 2, 3, 4])
        entries = None
        if getattr(params, "prompt_logprobs", None) is not None:
            entries = [None, *({token: SimpleNamespace(logprob=-(token % 7) / 10, decoded_token="x")} for token in ids[1:])]
        return SimpleNamespace(request_id=request_id, finished=True, outputs=[said], prompt_token_ids=ids, prompt_logprobs=entries)

    def _maybe_die(self) -> None:
        limit, mark = ENV("FAKE_VLLM_DIE_AFTER"), Path(ENV("FAKE_VLLM_DIED") or os.devnull)
        if limit and self.served > int(limit) and (mark == Path(os.devnull) or not mark.exists()):
            if mark != Path(os.devnull):
                mark.touch()
            print("RuntimeError: CUDA error: an illegal memory access was encountered", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
