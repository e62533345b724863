"""64 prompts to SmolLM2: leaderflow's Transformers backend against a bare length-sorted `generate` loop, in one process.

Both load the same folder in fp32, use batches of the same size and generate greedily. The two take turns, the best of each counts;
loading and the first batch are left out. Prints the ratio bare / leaderflow (1 = as fast) and whether all texts are equal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from inference.huggingface import fetch
from inference.huggingface.backend import HuggingFacewithChatTemplate
from leaderflow.core.identity import sha256_hex
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt, Request, Settings

BATCH, NEW_TOKENS, ROUNDS = 16, 24, 2
TOPICS = [
    "the sea",
    "a small town in the mountains",
    "bread",
    "how a clock works and who needs one",
    "music",
    "rain on a tin roof",
    "cats",
]


def prompts() -> list[str]:
    """Return 64 prompts of 5 to 60 words."""
    tasks = [
        "Tell me about {}.",
        "Write a short note on {} for a child who has never heard of it before.",
        "Why do people like {}?",
    ]
    filler = " Use simple words and give one example."
    return [tasks[n % 3].format(TOPICS[n % 7]) + filler * (n % 5) for n in range(64)]


class Bare:
    """What one would write by hand."""

    def __init__(self, folder: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def __call__(self, texts: list[str]) -> list[str]:
        """Answer texts."""
        import torch

        template: Any = self.tokenizer.apply_chat_template
        chats = [template([{"role": "user", "content": t}], tokenize=False, add_generation_prompt=True) for t in texts]
        order = sorted(range(len(chats)), key=lambda n: len(self.tokenizer(chats[n])["input_ids"]), reverse=True)
        found = [""] * len(texts)
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            inputs = self.tokenizer([chats[n] for n in batch], return_tensors="pt", padding=True, add_special_tokens=False)
            with torch.inference_mode():
                out = self.model.generate(**inputs, max_new_tokens=NEW_TOKENS, do_sample=False)
            for n, line in zip(batch, out[:, inputs["input_ids"].shape[1] :], strict=True):
                found[n] = self.tokenizer.decode(line, skip_special_tokens=True)
        return found


class Ours:
    """The backend."""

    def __init__(self, folder: str) -> None:
        spec = ModelSpec(type="HuggingFacewithChatTemplate", abbr="smollm2", path=folder, batch_size=BATCH)
        self.backend = HuggingFacewithChatTemplate(spec, dtype="float32")

    def __call__(self, texts: list[str]) -> list[str]:
        """Answer texts."""
        settings = Settings(max_out_len=NEW_TOKENS)
        chats = [Prompt(messages=({"role": "user", "content": text},)) for text in texts]
        asked = [Request(sha256_hex(f"{n}"), chat, settings) for n, chat in enumerate(chats)]
        found = {answer.request_key: answer.output or "" for answer in self.backend.generate(asked)}
        return [found[request.request_key] for request in asked]


def timed(run: Callable[[list[str]], list[str]], texts: list[str]) -> tuple[float, float, list[str]]:
    """Return seconds of the wall, seconds of CPU, and the texts."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = run(texts)
    return time.perf_counter() - wall, time.process_time() - cpu, found


def main() -> None:
    folder = str(fetch.get("smollm2-135m"))
    runs: dict[str, Callable[[list[str]], list[str]]] = {"bare": Bare(folder), "leaderflow": Ours(folder)}
    texts, times = prompts(), {name: list[tuple[float, float]]() for name in runs}
    answers = {name: run(texts[:2]) for name, run in runs.items()}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            wall, cpu, answers[name] = timed(run, texts)
            times[name].append((wall, cpu))
    bare, ours = ([min(t) for t in zip(*times[name], strict=True)] for name in runs)
    print(f"bare {bare[0]:.1f} s ({bare[1]:.1f} CPU), leaderflow {ours[0]:.1f} s ({ours[1]:.1f} CPU)")
    print(f"ratio bare / leaderflow: {bare[0] / ours[0]:.3f} wall, {bare[1] / ours[1]:.3f} CPU; goal >= 0.95")
    same = sum(a == b for a, b in zip(answers["bare"], answers["leaderflow"], strict=True))
    print(f"equal texts: {same} of {len(texts)}")


if __name__ == "__main__":
    main()
