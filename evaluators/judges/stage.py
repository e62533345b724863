"""The judge's part of scoring, as plain functions: answers → questions, and the judges' extracted replies → verdicts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluators.judges.rivals import pretended_rivals, waiting, without_answers
from evaluators.stage import build_evaluator, postprocess
from leaderflow.core.artifacts import EXTRACTED, OUTPUTS, QUESTIONS, SAMPLES, VERDICTS, table_of

if TYPE_CHECKING:
    from leaderflow.core.specs import DatasetSpec

PLACEHOLDER = "(here stands the answer of the model)"


def questions(
    extracted: pa.Table,
    samples: pa.Table,
    outputs: pa.Table,
    dataset: DatasetSpec,
    rivals: Mapping[str, pa.Table] | None = None,
) -> pa.Table:
    """Return what the judges are asked about a cell (QUESTIONS), in the order of its rows; empty where nothing is to be judged.

    Args:
        extracted: the postprocess table.
        samples: the read table.
        outputs: the infer table.
        dataset: whose evaluator asks.
        rivals: the postprocess tables of the models to compare with.

    Raises:
        DataError: a row lacks what a question needs.
    """
    asked = build_evaluator(dataset, rivals).questions(extracted, samples, outputs)
    return table_of(
        QUESTIONS,
        [
            {
                "question_id": "#".join([q.sample_id, str(q.repeat), *([q.name] if q.name else [])]),
                "sample_id": q.sample_id,
                "repeat": q.repeat,
                "question": q.name,
                "row": json.dumps(q.row, ensure_ascii=False, allow_nan=False),
            }
            for q in asked
        ],
    )


def without_judges(evaluator: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluator's configuration without who judges: that counts by the judge's identity, not by how it is written."""
    kept = {name: value for name, value in evaluator.items() if name not in ("judge", "judge_cfg")}
    return {name: without_judges(value) if isinstance(value, Mapping) else value for name, value in kept.items()}


def pretended(samples: pa.Table, dataset: DatasetSpec, rivals: Sequence[str] = ()) -> pa.Table:
    """Return what the judges would be asked if every answer were a placeholder: to check and to show before any request."""
    answers = [
        {"sample_id": sample_id, "part": 0, "repeat": 0, "status": "ok", "output": PLACEHOLDER}
        for sample_id in samples.column("sample_id").to_pylist()
    ]
    outputs = table_of(OUTPUTS, answers)
    evaluator = {name: value for name, value in dataset.eval_cfg.evaluator.items() if name != "pred_postprocessor"}
    plain = dataset.eval_cfg.model_copy(update={"pred_postprocessor": None, "pred_role": None, "evaluator": evaluator})
    bare = dataset.model_copy(update={"eval_cfg": plain})
    extracted = postprocess(outputs, samples, bare)
    return questions(extracted, samples, outputs, dataset, pretended_rivals(rivals, extracted))


def as_samples(questions: pa.Table) -> pa.Table:
    """Return questions as the rows of a dataset, ready to be rendered."""
    return pa.Table.from_arrays([questions.column("question_id"), questions.column("row")], schema=SAMPLES)


def verdicts(questions: pa.Table, replies: Iterable[tuple[str, pa.Table]]) -> pa.Table:
    """Return the VERDICTS of a cell.

    Args:
        questions: what was asked.
        replies: (judge, its EXTRACTED table), a judge's shards one after the other.
    """
    about = {q["question_id"]: q for q in questions.select(["question_id", "sample_id", "repeat", "question"]).to_pylist()}
    lines = []
    for judge, table in replies:
        for reply in table.select(["sample_id", "repeat", "status", "extracted"]).to_pylist():
            question = about[reply["sample_id"]]
            own = {name: question[name] for name in ("sample_id", "repeat", "question")}
            said = {"judge_repeat": reply["repeat"], "status": reply["status"], "verdict": reply["extracted"]}
            lines.append({**own, "judge": judge, **said})
    return table_of(VERDICTS, lines)


def settled(extracted: pa.Table, verdicts: pa.Table, minimum: int, rivals: Mapping[str, pa.Table] | None = None) -> pa.Table:
    """Return EXTRACTED with what became of the questions about each row.

    A row is ``error`` where a judge, or a model that it is compared with, gave no answer after all attempts (it will be asked
    again), ``unparsed`` where no question has `minimum` readable verdicts.
    """
    rows: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in verdicts.to_pylist():
        said = "error" if line["status"] == "error" else "none" if line["verdict"] is None else "read"
        rows[line["sample_id"], line["repeat"]][line["question"]].append(said)
    lines = [_settled(line, rows.get((line["sample_id"], line["repeat"]), {}), minimum) for line in extracted.to_pylist()]
    return without_answers(table_of(EXTRACTED, lines), waiting(rivals or {}))


def _settled(line: dict[str, Any], said: Mapping[str, list[str]], minimum: int) -> dict[str, Any]:
    if any("error" in replies for replies in said.values()):
        return {**line, "status": "error"}
    if said and all(replies.count("read") < minimum for replies in said.values()):
        return {**line, "status": "unparsed"}
    return line
