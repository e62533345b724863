"""Peak memory of scoring beside the number of samples: GSM8K-like cells of growing size in a store, each in a process of its own.

Prints for each size the bytes of its tables, what postprocessing (shard by shard) and scoring take at their peak beyond a process
that has scored nothing yet, and by how much that grew a sample since the size before. Flat is a growth of some tens of bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pyarrow as pa

from evaluators import stage
from evaluators.extractions import extractions
from leaderflow.core.artifacts import OUTPUTS, SAMPLES, table_of
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.store import ArtifactRef, Store
from leaderflow.core.streams import TableRows, recut

SIZES = (10_000, 50_000, 200_000)
SHARD = 500
"""Samples that are postprocessed at once, as a run does."""
DATASET = {
    "type": "JsonlDataset",
    "abbr": "sums",
    "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
    "infer_cfg": {"prompt_template": {"type": "RawPromptTemplate"}, "inferencer": {"type": "GenInferencer"}},
    "eval_cfg": {"evaluator": {"type": "NumberMatch"}, "pred_postprocessor": {"type": "final_number"}},
}


def samples(n: int) -> Iterator[pa.RecordBatch]:
    """Yield the read table of a cell."""
    apples = "Think of apples. " * 12
    for start in range(0, n, SHARD):
        rows = [json.dumps({"question": f"How much is {i} plus {i}? {apples}", "answer": str(2 * i)}) for i in _shard(start, n)]
        yield pa.record_batch([pa.array([f"s{i}" for i in _shard(start, n)]), pa.array(rows)], schema=SAMPLES)


def outputs(start: int, n: int) -> pa.Table:
    """Return the infer table of a shard, three answers of four right; one has 800 characters, as a worked solution does."""
    steps = "First this, then that. " * 34
    said = ((i, f"{steps}The answer is {2 * i + (i % 4 == 0)}.") for i in _shard(start, n))
    return table_of(OUTPUTS, [{"sample_id": f"s{i}", "part": 0, "repeat": 0, "status": "ok", "output": text} for i, text in said])


def _shard(start: int, n: int) -> range:
    return range(start, min(start + SHARD, n))


def store_cell(store: Store, n: int) -> list[str]:
    """Write the tables of a cell into a store and return their references, the samples' first."""
    refs = [store.write("read", f"{n:064x}", {}, {"samples": samples(n)})["samples"]]
    for start in range(0, n, SHARD):
        refs.append(store.write("infer", f"{n:032x}{start:032x}", {}, {"outputs": outputs(start, n)})["outputs"])
    return [ref.model_dump_json() for ref in refs]


def peak_kb() -> int:
    """Return the most memory that this process has had; getrusage would count what the parent had when it started this one."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def score(place: str) -> None:
    """Postprocess and score the cell whose references come on the standard input; print the growth of the peak and the accuracy."""
    store, dataset = Store(place), DatasetSpec.model_validate(DATASET)
    read, *infer = [ArtifactRef.model_validate_json(line) for line in sys.stdin]
    stage.postprocess(outputs(0, 1), pa.Table.from_batches(samples(1)), dataset)  # start-up: imports and patterns
    before = peak_kb()
    post = []
    shards = recut(store.rows([read]).batches(SAMPLES.names), SHARD)
    for part, ref in zip(shards, infer, strict=True):
        found = extractions(store.rows([ref]), TableRows(pa.Table.from_batches([part])), dataset)
        post.append(store.write("postprocess", ref.key, {}, {"extracted": found})["extracted"])
    extracted = store.rows(post)
    scores, metrics = stage.scores(extracted, store.rows([read]), dataset)
    counts = stage.counts(extracted, store.rows(infer))
    store.write("score", read.key, {}, {"scores": scores, "metrics": metrics}, {"counts": counts})
    print(peak_kb() - before, metrics.to_pylist()[0]["value"])


def main() -> None:
    """Measure every size and print."""
    if len(sys.argv) > 1:
        score(sys.argv[1])
        return
    known: tuple[int, int] | None = None
    for n in SIZES:
        with tempfile.TemporaryDirectory() as place:
            refs = store_cell(Store(place), n)
            command = [sys.executable, "-m", "benchmarks.scoring_memory", place]
            said = subprocess.run(command, input="\n".join(refs), capture_output=True, text=True, check=True).stdout.split()
        more = int(said[0])
        grown = "" if known is None else f", {1024 * (more - known[1]) / (n - known[0]):6.1f} more bytes a sample"
        print(f"{n:>7,} samples: {more / 1024:6.1f} MB more than nothing scored{grown}, accuracy {float(said[1]):.1f}")
        known = (n, more)


if __name__ == "__main__":
    main()
