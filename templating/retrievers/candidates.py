"""The prompts that MDL compares: each sample with each set of examples and each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from leaderflow.core.artifacts import EXAMPLES, samples_of, table_of
from templating.retrievers.base import Render, Sample

if TYPE_CHECKING:
    from leaderflow.core.specs import DatasetSpec


def candidates(dataset: DatasetSpec, pool: pa.Table) -> Render:
    """Return the function that renders samples with examples of the pool, as text, once for every label.

    The retriever's own ice_template, prompt_template and labels come before those of infer_cfg.
    """
    retriever = dataset.infer_cfg.retriever
    own = {name: retriever[name] for name in ("ice_template", "prompt_template") if retriever.get(name)}
    spec = dataset.model_copy(update={"infer_cfg": dataset.infer_cfg.model_copy(update=own)})

    def prompts(samples: Sequence[Sample], example_ids: Sequence[Sequence[str]]) -> list[dict[str, str]]:
        from templating import stage  # which imports the retrieve stage

        # one sample comes with several sets of examples, so that here a number names it
        rows = samples_of((str(index), row) for index, (_, row) in enumerate(samples))
        chosen = [{"sample_id": str(index), "example_ids": list(ids)} for index, ids in enumerate(example_ids)]
        target = stage.Target(accepts=frozenset({"text"}), mode="ppl")
        names = stage.labels(spec, rows.slice(0, 0), retriever.get("labels"))  # the references are not to be looked at
        found: list[dict[str, str]] = [{} for _ in samples]
        for line in stage.render(rows, pool, table_of(EXAMPLES, chosen), spec, target, labels=names).to_pylist():
            found[int(line["sample_id"])][line["label"]] = line["text"]
        return found

    return prompts
