"""Four candidates to each of 40 questions, scored by SmolLM2: a shared context beside a bare length-sorted loop, in one process.

Prints the ratio bare / leaderflow in seconds of the wall and of the CPU, and the largest difference between two sums.
"""

from __future__ import annotations

import time
from typing import Any

from inference.huggingface import fetch
from inference.huggingface.backend import HuggingFaceBaseModel
from leaderflow.core.identity import sha256_hex
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt, Request, Settings

BATCH, ROUNDS = 16, 2
OPTIONS = ["the north side of the hill", "a large red barn", "water", "nobody who was there that day"]


def texts() -> list[str]:
    """Return 160 texts, their contexts of 30 to 75 tokens."""
    story = "On day {} the farmer walked from the village to the river and saw something that made him stop at once. "
    return [
        f"{story.format(n)}{'It was still early and very cold. ' * (n % 5)}What was it? {o}" for n in range(40) for o in OPTIONS
    ]


def bare(model: Any, tokenizer: Any, rows: list[str]) -> list[float]:
    """Return sums by the loop that one would write by hand."""
    import torch

    ids = [tokenizer(row)["input_ids"] for row in rows]
    order, found = sorted(range(len(ids)), key=lambda n: -len(ids[n])), [0.0] * len(ids)
    for at in range(0, len(order), BATCH):
        batch = order[at : at + BATCH]
        longest = len(ids[batch[0]])
        padded = torch.tensor([ids[n] + [0] * (longest - len(ids[n])) for n in batch])
        mask = torch.tensor([[1] * len(ids[n]) + [0] * (longest - len(ids[n])) for n in batch])
        with torch.inference_mode():
            scores = model(input_ids=padded, attention_mask=mask).logits.log_softmax(-1)
        picked = scores[:, :-1].gather(-1, padded[:, 1:, None]).squeeze(-1) * mask[:, 1:]
        for n, total in zip(batch, picked.sum(-1).tolist(), strict=True):
            found[n] = total
    return found


def ours(backend: HuggingFaceBaseModel, rows: list[str]) -> list[float]:
    """Return the backend's sums."""
    asked = [Request(sha256_hex(f"{n}"), Prompt(text=row), Settings()) for n, row in enumerate(rows)]
    found = {answer.request_key: -(answer.nll or 0.0) for answer in backend.loglikelihood(asked)}
    return [found[request.request_key] for request in asked]


def main() -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = str(fetch.get("smollm2-135m"))
    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    spec = ModelSpec(type="HuggingFaceBaseModel", abbr="smollm2", path=folder, batch_size=BATCH)
    backend = HuggingFaceBaseModel(spec, dtype="float32")
    runs = {"bare": lambda rows: bare(model, tokenizer, rows), "leaderflow": lambda rows: ours(backend, rows)}
    rows, sums, times = texts(), {}, {name: list[tuple[float, float]]() for name in runs}
    for run in runs.values():
        run(rows[:4])
    for _ in range(ROUNDS):
        for name, run in runs.items():
            wall, cpu = time.perf_counter(), time.process_time()
            sums[name] = run(rows)
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    (bare_wall, bare_cpu), (wall, cpu) = ([min(t) for t in zip(*times[name], strict=True)] for name in runs)
    print(f"bare {bare_wall:.1f} s ({bare_cpu:.1f} CPU), leaderflow {wall:.1f} s ({cpu:.1f} CPU)")
    print(f"ratio bare / leaderflow: {bare_wall / wall:.2f} wall, {bare_cpu / cpu:.2f} CPU; goal >= 1.6")
    print(f"largest difference of two sums: {max(abs(a - b) for a, b in zip(sums['bare'], sums['leaderflow'], strict=True)):.1e}")


if __name__ == "__main__":
    main()
