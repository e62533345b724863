"""Time and memory of few-shot retrieval: ``python -m benchmarks.retrieval [--pool 10000] [--samples 1000]``.

Made-up rows; embeddings are random unit vectors of 384 numbers, so that the search is timed and not a model.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from leaderflow.core.artifacts import samples_of
from leaderflow.core.specs import DatasetSpec
from templating.retrieval import retrieve

RETRIEVERS: list[dict[str, Any]] = [
    {"type": "RandomRetriever"},
    {"type": "BalancedRetriever"},
    {"type": "BM25Retriever"},
    {"type": "TopkRetriever"},
    {"type": "MMRRetriever"},
    {"type": "DPPRetriever", "candidate_num": 50},
    {"type": "VotekRetriever"},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=1_000)
    given = parser.parse_args()
    draw = random.Random(0)
    words = [f"word{int(draw.paretovariate(0.5)) % 50_000}" for _ in range(100_000)]
    pool, samples = table("p", given.pool, words, draw), table("s", given.samples, words, draw)
    print(f"pool {given.pool}, samples {given.samples}, 5 examples each")
    for retriever in RETRIEVERS:
        start = time.process_time(), time.perf_counter()
        retrieve(samples, pool, spec(retriever | {"ice_num": 5}), embed=vectors)
        cpu, wall = time.process_time() - start[0], time.perf_counter() - start[1]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{retriever['type']:20} {wall:7.2f} s wall {cpu:7.2f} s CPU   peak so far {peak:6.0f} MiB")


def table(prefix: str, size: int, words: list[str], draw: random.Random) -> pa.Table:
    return samples_of(
        (f"{prefix}{n}", {"question": " ".join(draw.choices(words, k=40)), "answer": draw.choice("ABCD")}) for n in range(size)
    )


def vectors(texts: Sequence[str]) -> Any:
    found = np.random.default_rng(0).normal(size=(len(texts), 384)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def spec(retriever: dict[str, Any]) -> DatasetSpec:
    return DatasetSpec(
        type="JsonlDataset",
        abbr="benchmark",
        reader_cfg={"input_columns": ["question"], "output_column": "answer"},
        infer_cfg={
            "prompt_template": {"type": "RawPromptTemplate", "messages": []},
            "retriever": retriever,
            "inferencer": {"type": "GenInferencer"},
        },
        eval_cfg={"evaluator": {"type": "AccEvaluator"}},
    )


if __name__ == "__main__":
    main()
