"""Small cells: a dataset, its samples and what a model answered."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from evaluators import stage
from leaderflow.core.artifacts import OUTPUTS, samples_of, table_of
from leaderflow.core.specs import DatasetSpec


def spec(evaluator: str = "AccEvaluator", **more: Any) -> DatasetSpec:
    eval_cfg = {"evaluator": {"type": evaluator}} | more.pop("eval_cfg", {})
    reader = {"input_columns": "q", "output_column": "a"} | more.pop("reader_cfg", {})
    infer = {"prompt_template": {"type": "RawPromptTemplate"}, "inferencer": {"type": "GenInferencer"}}
    return DatasetSpec(type="JsonlDataset", abbr="toy", reader_cfg=reader, infer_cfg=infer, eval_cfg=eval_cfg, **more)


def rows(*answers: Any, **columns: list[Any]) -> pa.Table:
    lines = [{"q": f"question {i}", "a": a} | {n: v[i] for n, v in columns.items()} for i, a in enumerate(answers)]
    return samples_of((f"s{i}", line) for i, line in enumerate(lines))


def answers(*given: Any, repeats: int = 1) -> pa.Table:
    lines = []
    for i, value in enumerate(given):
        line = value if isinstance(value, dict) else {"output": value}
        base = {"request_key": str(i), "sample_id": f"s{i // repeats}", "part": 0, "repeat": i % repeats, "status": "ok"}
        lines.append(base | {"attempts": 1} | line)
    names = {name for line in lines for name in line}
    return table_of(OUTPUTS, [{n: line.get(n) for n in names} for line in lines])


def scored(
    outputs: pa.Table, samples: pa.Table, dataset: DatasetSpec, **more: Any
) -> tuple[pa.Table, list[dict[str, Any]], dict[str, dict]]:
    extracted = stage.postprocess(outputs, samples, dataset, **more)
    scores, metrics = stage.score(extracted, samples, outputs, dataset)
    return extracted, scores.to_pylist(), {m["metric"]: m for m in metrics.to_pylist()}
