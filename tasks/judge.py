"""judge: the questions about a cell's answers. They are rendered, asked and read by the steps of any other cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.judges import stage
from leaderflow.core.specs import DatasetSpec, EvalCfg, InferCfg, ReaderCfg
from leaderflow.core.store import ArtifactRef, Tabular
from leaderflow.core.types import Json, Judging
from tasks.cell import CellStep


@dataclass(frozen=True)
class Judged:
    """What judges were asked about a cell and what was read in their replies, judge by judge, shard by shard."""

    questions: ArtifactRef
    extracted: Mapping[str, Sequence[ArtifactRef]]


class QuestionStep(CellStep):
    """Makes the questions about one cell."""

    stage = "judge"

    def config(self) -> Json:
        """The evaluator, the columns that it looks at and the models that it compares with."""
        own = {"evaluator": stage.without_judges(self.dataset.eval_cfg.evaluator), "reader_cfg": self.columns()}
        return own | self.rival_names()

    def compute(self) -> Mapping[str, Tabular]:
        """Make the questions."""
        return {"questions": stage.asked(*self.rows(), self.dataset, self.rival_rows())}


def judge_dataset(dataset: DatasetSpec, judging: Judging, model: str) -> DatasetSpec:
    """Return the questions about one model's answers as a dataset of their own: template, inferencer and reader of verdicts."""
    return DatasetSpec(
        type="JsonlDataset",
        abbr=f"{dataset.abbr}.judge.{model}",
        reader_cfg=ReaderCfg(input_columns=_columns(judging), output_column=judging.blank),
        infer_cfg=InferCfg(prompt_template=dict(judging.template), inferencer=dict(judging.inferencer)),
        eval_cfg=EvalCfg(evaluator={"type": "AccEvaluator"}, pred_postprocessor=dict(judging.reader) if judging.reader else None),
        compat=judging.compat,
        n=judging.repeats,
        k=[1],
    )


def _columns(judging: Judging) -> list[str]:
    """The columns that the template names; they are there because the evaluator puts them into every question."""
    messages = judging.template.get("messages") or []
    texts = [m["content"] for m in messages if isinstance(m, dict) and isinstance(m.get("content"), str)]
    return list(dict.fromkeys(name for text in texts for name in re.findall(r"\{(\w+)\}", text)))
