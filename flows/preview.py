"""What the model will see: the exact inputs of some samples, before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from evaluators import stage as evaluators
from evaluators.judges import stage as judges
from flows.judge import render_questions
from flows.shards import labels_of
from flows.work import check_dataset, needs_pool, plan_cell
from inference.inferencers.base import rendered_prompt
from inference.stage import defaults
from leaderflow.core import registry
from leaderflow.core.artifacts import rows_of
from leaderflow.core.errors import UsageError, did_you_mean
from leaderflow.core.paths import store_uri
from leaderflow.core.specs import DatasetSpec, EvaluationSpec, ModelSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Capability, Inferencer, Json, TokenCounter
from tasks.judge import judge_dataset
from tasks.read import ReadStep
from tasks.retrieve import choose, helpers
from tasks.session import Session
from templating import stage as templating
from templating.stage import Target

ANY_INPUT: frozenset[Capability] = frozenset({"messages", "text"})


@dataclass(frozen=True)
class Preview:
    """Some rendered samples of one dataset, and the size of the whole cell."""

    dataset: str
    model: str | None
    rows: list[dict[str, Json]]
    samples: int
    references: dict[str, Json]
    tokens: int | None
    """Estimated tokens of the whole cell, where the model can count them."""
    judge: list[dict[str, Json]] = field(default_factory=list)
    """What a judge would be asked about the shown samples, with a placeholder for the answer."""
    alike: list[str] = field(default_factory=list)
    """Members of the same family that have the same template and are not shown."""

    def as_json(self) -> dict[str, Json]:
        """Return the one object that ``--json`` prints."""
        return {"rows": self.rows} | ({"judge": self.judge} if self.judge else {})


def preview(
    spec: EvaluationSpec,
    dataset: DatasetSpec,
    model: ModelSpec | None,
    *,
    n: int = 3,
    sample: str | None = None,
    texts: bool = False,
) -> Preview:
    """Render some samples as a run would.

    Args:
        spec: where data lie (`data_dir`, `offline`).
        dataset: the dataset.
        model: whose meta_template, limits and tokenizer apply; None renders for a model that takes anything.
        n: how many samples.
        sample: only this sample id.
        texts: add to each row, as ``model_text``, what the model's chat template makes of it.

    Raises:
        UsageError: spec, data or the sample id are wrong.
    """
    session = Session(spec, Store(store_uri()))
    try:
        return _preview(session, dataset, model, n, sample, texts)
    finally:
        session.close()


def _preview(session: Session, dataset: DatasetSpec, model: ModelSpec | None, n: int, sample: str | None, texts: bool) -> Preview:
    inferencer, target = _target(session, dataset, model)
    if texts and target.counter is None:
        raise UsageError("no tokenizer is known here: name a local model by -m, or a `tokenizer:` in the model's block")
    tables = ReadStep(session, dataset, pool=needs_pool(dataset)).compute()
    samples, pool = tables["samples"], tables["pool"]
    labels = labels_of(dataset, inferencer, samples)
    chosen, before = _choose(samples, n, sample)
    kept = choose(before, pool, dataset, helpers(session, dataset, model))
    prompts = templating.render(before, pool, kept, dataset, target, labels=labels)
    keys = _request_keys(session, dataset, model, inferencer, prompts)
    ids = dict(zip(kept.column("sample_id").to_pylist(), kept.column("example_ids").to_pylist(), strict=True))
    wanted = set(chosen.column("sample_id").to_pylist())
    shown = [_row(row, ids, key, target.counter, texts) for row, key in zip(prompts.to_pylist(), keys, strict=True)]
    rows = [row for row in shown if row["sample_id"] in wanted]
    counted = [row["tokens"] for row in rows if row["tokens"] is not None]
    column = dataset.reader_cfg.output_column
    return Preview(
        dataset=dataset.abbr,
        model=model.abbr if model else None,
        rows=rows,
        samples=samples.num_rows,
        references={i: row.get(column) for i, row in rows_of(chosen)} if column else {},
        tokens=round(sum(counted) / chosen.num_rows * samples.num_rows) if counted else None,
        judge=_judge_rows(dataset, chosen),
    )


def _judge_rows(dataset: DatasetSpec, samples: pa.Table) -> list[dict[str, Json]]:
    """Return the judge's prompts as any chat model gets them."""
    judging = evaluators.build_evaluator(dataset).judging
    if judging is None:
        return []
    own = judge_dataset(dataset, judging, "model")
    asked = judges.pretended(samples, dataset, judging.rivals)
    about = dict(zip(asked.column("question_id").to_pylist(), asked.to_pylist(), strict=True))
    rows = []
    for prompt in render_questions(own, Target(accepts=ANY_INPUT, mode="gen"), judges.as_samples(asked)).to_pylist():
        question = about[prompt["sample_id"]]
        messages = json.loads(prompt["messages"]) if prompt["messages"] is not None else None
        shown = {"messages": messages} if messages is not None else {"text": prompt["text"]}
        rows.append({"sample_id": question["sample_id"], "question": question["question"], **shown})
    return rows


def _target(session: Session, dataset: DatasetSpec, model: ModelSpec | None) -> tuple[Inferencer, Target]:
    check_dataset(dataset, dataset.abbr)
    if model is not None:
        cell = plan_cell(session, model, dataset)
        return cell.inferencer, cell.target
    inferencer: Inferencer = registry.build("inferencer", dataset.infer_cfg.inferencer, repeats=dataset.n)
    target = Target(accepts=ANY_INPUT, mode=inferencer.mode)
    templating.check(dataset, target, key=dataset.abbr)
    return inferencer, target


def _choose(samples: pa.Table, n: int, sample: str | None) -> tuple[pa.Table, pa.Table]:
    """Return the samples to show, and all up to the last of them: request keys count equal inputs from the first row on."""
    if sample is None:
        return samples.slice(0, n), samples.slice(0, n)
    ids: Sequence[str] = samples.column("sample_id").to_pylist()
    if sample not in ids:
        raise UsageError(f"no sample {sample!r} in the selection of {len(ids)}{did_you_mean(sample, ids)}")
    at = ids.index(sample)
    return samples.slice(at, 1), samples.slice(0, at + 1)


def _request_keys(
    session: Session, dataset: DatasetSpec, model: ModelSpec | None, inferencer: Inferencer, prompts: pa.Table
) -> list[str | None]:
    """Return the request key of repeat 0 for each prompt, None without a model and for rejected prompts."""
    if model is None:
        return [None] * prompts.num_rows
    requests = inferencer.requests(prompts, session.backend(model).identity, defaults(model, dataset.infer_cfg.inferencer))
    first = iter([request.request_key for request in requests if request.repeat == 0])
    return [next(first) if status == "ok" else None for status in prompts.column("status").to_pylist()]


def _row(
    row: dict[str, Any], ids: dict[str, list[str]], key: str | None, counter: TokenCounter | None, texts: bool
) -> dict[str, Json]:
    messages = json.loads(row["messages"]) if row["messages"] is not None else None
    shown = {"messages": messages} if messages is not None else {"text": row["text"]}
    prompt = rendered_prompt(row)
    return {
        "sample_id": row["sample_id"],
        "label": row["label"],
        **shown,
        "example_ids": ids.get(row["sample_id"], []),
        "dropped_examples": row["dropped_examples"],
        "tokens": counter.count(prompt) if counter else None,
        "request_key": key,
        "status": row["status"],
        **({"model_text": counter.text(prompt)} if counter and texts else {}),
    }
