"""Several extractors side by side: where they disagree or find nothing. They decide no score."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.pipeline import UNANSWERED, Pipeline
from leaderflow.core.types import Json

if TYPE_CHECKING:
    import pyarrow as pa

    from leaderflow.core.specs import DatasetSpec, Typed


@dataclass(frozen=True, slots=True)
class Doubt:
    """One answer about which the extractors do not agree: extractor → what it found, None for nothing."""

    sample_id: str
    repeat: int
    found: Mapping[str, Json]


def audit(
    outputs: pa.Table,
    dataset: DatasetSpec,
    *,
    model_postprocessor: Typed | None = None,
    role_markers: tuple[str, str] | None = None,
) -> list[Doubt]:
    """Return the generated answers in which the deciding and the further extractors find different things, or one finds nothing.

    Args:
        outputs: the infer table.
        dataset: whose eval_cfg names the deciding postprocessor and, under ``extractors``, the further ones.
        model_postprocessor: the model's pred_postprocessor; it comes first for all of them.
        role_markers: as for `evaluators.stage.postprocess`.

    Raises:
        SpecError: a postprocessor that does not exist.
    """
    deciding = Pipeline(dataset, model_postprocessor, role_markers)
    pipelines = {deciding.name or "answer": deciding}
    for name, config in dataset.eval_cfg.extractors.items():
        evaluator = {"type": dataset.eval_cfg.evaluator["type"]}
        cfg = dataset.eval_cfg.model_copy(update={"pred_postprocessor": config, "evaluator": evaluator})
        pipelines[name] = Pipeline(dataset.model_copy(update={"eval_cfg": cfg}), model_postprocessor, role_markers)
    doubts = []
    for output in outputs.to_pylist():
        if output["label"] is not None or output["status"] in UNANSWERED:
            continue
        texts = {name: pipeline.line(output).get("extracted") for name, pipeline in pipelines.items()}
        if len(set(texts.values())) > 1 or None in texts.values():
            found = {name: None if text is None else json.loads(text) for name, text in texts.items()}
            doubts.append(Doubt(output["sample_id"], output["repeat"], found))
    return doubts
