"""Peak memory of scoring beside the number of samples: GSM8K-like cells of growing size, each in a process of its own.

Prints for each size the tables' own megabytes, what postprocessing and scoring take beyond them at their peak, and that per sample.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pyarrow as pa

from evaluators import stage
from leaderflow.core.artifacts import OUTPUTS, SAMPLES
from leaderflow.core.specs import DatasetSpec

SIZES = (2_000, 10_000, 50_000)
SHARD = 500
"""Samples that are postprocessed at once, as a run does."""
DATASET = {
    "type": "JsonlDataset",
    "abbr": "sums",
    "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
    "infer_cfg": {"prompt_template": {"type": "RawPromptTemplate"}, "inferencer": {"type": "GenInferencer"}},
    "eval_cfg": {"evaluator": {"type": "NumberMatch"}, "pred_postprocessor": {"type": "final_number"}},
}


def tables(n: int) -> tuple[pa.Table, pa.Table]:
    """Return the read and the infer table of a cell; an answer has 800 characters, as a worked solution does."""
    ids = [f"s{i}" for i in range(n)]
    rows = (
        json.dumps({"question": f"How much is {i} plus {i}? " + "Think of apples. " * 12, "answer": str(2 * i)}) for i in range(n)
    )
    said = (("First this, then that. " * 34) + f"The answer is {2 * i + (i % 4 == 0)}." for i in range(n))
    columns = {"sample_id": ids, "part": [0] * n, "repeat": [0] * n, "status": ["ok"] * n, "output": list(said)}
    arrays = [pa.array(columns.get(f.name, [None] * n), type=f.type) for f in OUTPUTS]
    return pa.table([pa.array(ids), pa.array(list(rows))], schema=SAMPLES), pa.Table.from_arrays(arrays, schema=OUTPUTS)


def peak_mb() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident_mb() -> float:
    """Return the memory that this process has."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def measure(n: int) -> None:
    """Score a cell of n samples and print its line."""
    dataset = DatasetSpec.model_validate(DATASET)
    samples, outputs = tables(n)
    own = (samples.nbytes + outputs.nbytes) / 2**20
    before = resident_mb()
    shards = [stage.postprocess(outputs.slice(at, SHARD), samples, dataset) for at in range(0, n, SHARD)]
    _, metrics = stage.score(pa.concat_tables(shards), samples, outputs, dataset)
    more = peak_mb() - before
    print(f"{n:>6} samples: tables {own:6.1f} MB, beyond them {more:6.1f} MB, {1024 * more / n:5.1f} KB a sample,", end=" ")
    print(f"accuracy {metrics.to_pylist()[0]['value']:.1f}")


def main() -> None:
    """Measure every size and print."""
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
        return
    for n in SIZES:
        subprocess.run([sys.executable, "-m", "benchmarks.scoring_memory", str(n)], check=True)


if __name__ == "__main__":
    main()
