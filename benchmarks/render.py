"""CPU seconds and memory of rendering: chat messages, five examples each. Run: ``python benchmarks/render.py [ROWS]``."""

from __future__ import annotations

import resource
import sys
import time

import pyarrow as pa

from leaderflow.core.artifacts import EXAMPLES, samples_of, table_of
from leaderflow.core.specs import DatasetSpec
from templating.stage import Target, render

QUESTION = (
    "A train leaves at {} and travels for {} hours at {} km/h, then waits. How far has it come, and what does the driver see?"
)


def dataset() -> DatasetSpec:
    turns = [{"role": "user", "content": "Question: {question}\nThink step by step."}, {"role": "assistant", "content": "{answer}"}]
    system = {"role": "system", "content": "Answer the question. Put the final answer in \\boxed{{}}."}
    infer_cfg = {
        "prompt_template": {"type": "RawPromptTemplate", "messages": [system, "</E>", turns[0]]},
        "ice_template": {"type": "RawPromptTemplate", "messages": turns},
        "retriever": {"type": "FixKRetriever", "fix_id_list": [0, 1, 2, 3, 4]},
        "inferencer": {"type": "GenInferencer"},
    }
    reader_cfg = {"input_columns": ["question"], "output_column": "answer"}
    eval_cfg = {"evaluator": {"type": "AccEvaluator"}}
    return DatasetSpec(type="JsonlDataset", abbr="trains", reader_cfg=reader_cfg, infer_cfg=infer_cfg, eval_cfg=eval_cfg)


def main(rows: int, shard: int = 500) -> None:
    made = ((f"s{i}", {"question": QUESTION.format(i, i % 7, i % 211), "answer": str(i)}) for i in range(rows))
    samples = samples_of(made)
    pool = samples.slice(0, 500)
    chosen = [[f"s{(i * 7 + j) % 500}" for j in range(5)] for i in range(rows)]
    examples = table_of(EXAMPLES, [{"sample_id": f"s{i}", "example_ids": ids} for i, ids in enumerate(chosen)])
    spec, target = dataset(), Target(frozenset({"messages"}), "gen")
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    size = 0
    for start in range(0, rows, shard):
        prompts: pa.Table = render(samples.slice(start, shard), pool, examples.slice(start, shard), spec, target)
        size += prompts.nbytes
    seconds = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{rows} rows in {seconds:.1f} s of CPU ({seconds / rows * 1e6:.0f} µs a row)")
    print(f"{size / 2**20:.0f} MiB of prompts, memory grown by {grown:.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
