"""The render stage: from samples and their examples to what the model receives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from leaderflow.core.artifacts import PROMPTS, table_of
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from templating import retrieval
from templating.compat import rules_of
from templating.meta import role_markers
from templating.renderer import Renderer, separators
from templating.retrieval import needs as retriever_needs
from templating.retrieval import retrieve
from templating.shard import Pool, Shard
from templating.target import Target

__all__ = ["Target", "check", "config", "labels", "render", "retrieve", "retriever_needs", "role_markers"]

CHUNK = 1024
"""Rows that are Python objects at a time."""


def check(dataset: DatasetSpec, target: Target, *, key: str) -> None:
    """Refuse what can be refused without reading data.

    Raises:
        SpecError: names the key and the value.
    """
    retrieval.needs(dataset, key=f"{key}.infer_cfg.retriever")
    Renderer(dataset, target, key=key)


def labels(dataset: DatasetSpec, samples: pa.Table, argument: list[str] | None) -> list[str]:
    """Return the candidates that perplexity chooses among, in the order that decides ties.

    They are the argument, else the template's labels, else the ice_template's, else the sorted distinct references.

    Raises:
        SpecError: a label of the argument that the template does not have, or no candidate at all.
        DataError: a reference that is none of the candidates (not asked where a dataset_postprocessor rewrites the references).
    """
    own = _template_labels(dataset)
    chosen = [str(label) for label in argument] if argument is not None else own
    if argument is not None and own is not None and (foreign := [label for label in chosen or [] if label not in own]):
        known = ", ".join(map(repr, own))
        raise SpecError(f"label {foreign[0]!r} is not in the template ({known})", key=f"{dataset.abbr}.infer_cfg.inferencer.labels")
    references = [] if dataset.reader_cfg.output_column is None else list(_references(dataset, samples))
    if chosen is None:
        chosen = sorted(dict.fromkeys(references))
    if not chosen:
        raise SpecError("there are no labels to choose among", key=f"{dataset.abbr}.infer_cfg.inferencer.labels")
    missing = next((reference for reference in references if reference not in chosen), None)
    rewritten = dataset.eval_cfg.dataset_postprocessor is not None or rules_of(dataset.compat).lenient_templates
    if missing is not None and not rewritten:
        known = ", ".join(map(repr, chosen))
        raise DataError(
            f"{dataset.abbr}: the reference {missing!r} in column {dataset.reader_cfg.output_column!r} is no label ({known})"
        )
    return chosen


def render(
    samples: pa.Table,
    pool: pa.Table,
    examples: pa.Table,
    dataset: DatasetSpec,
    target: Target,
    *,
    labels: list[str] | None = None,
    prior: Mapping[str, int] = {},
) -> pa.Table:
    """Render every sample (for every label) as the model will receive it.

    Args:
        samples: SAMPLES of one shard.
        pool: SAMPLES of the train split.
        examples: EXAMPLES of the same samples, in the same order.
        dataset: the dataset's spec.
        target: the model's side.
        labels: the candidates; None renders each sample once.
        prior: input_key → how many equal inputs the cell's earlier shards hold.

    Returns:
        PROMPTS, sample by sample, a sample's labels in order. Rows that can never be answered have the status ``rejected``, and
        keep the input that was too long.

    Raises:
        SpecError: the templates and the model do not go together.
        TemplateError: names dataset, template, sample and value.
        DataError: an example id that the pool does not have.
    """
    shard = Shard(Renderer(dataset, target, key=dataset.abbr), Pool(pool, examples), target, labels, prior)
    chunks = (zip(*columns, strict=True) for columns in _chunks(samples, examples))
    tables = [table_of(PROMPTS, [row for entry in chunk for row in shard.rows(*entry)]) for chunk in chunks]
    shard.report()
    return pa.concat_tables(tables) if tables else table_of(PROMPTS, [])


def config(dataset: DatasetSpec, target: Target, labels: Sequence[str] | None) -> Json:
    """Return the part of the configuration that changes the rendered prompts."""
    cfg = dataset.infer_cfg
    counter = target.counter if target.max_seq_len is not None else None
    return {
        "prompt_template": _keyed(cfg.prompt_template),
        "ice_template": _keyed(cfg.ice_template),
        "separators": list(separators(cfg.retriever)),
        "output_column": dataset.reader_cfg.output_column,
        "compat": dataset.compat,
        "labels": None if labels is None else list(labels),
        "mode": target.mode,
        "accepts": sorted({"messages", "text"} & target.accepts),
        "chat_template": target.chat_template,
        "meta_template": target.meta_template,
        "window": counter and [counter.identity, target.max_seq_len, target.max_out_len, target.truncate],
    }


def _chunks(samples: pa.Table, examples: pa.Table) -> Iterator[tuple[list[str], list[str], list[list[str]]]]:
    """Yield (sample_ids, rows, example_ids) of a bounded number of samples at a time."""
    if samples.column("sample_id") != examples.column("sample_id"):
        raise DataError("the examples table is not of these samples, row by row")
    for start in range(0, samples.num_rows, CHUNK):
        part, chosen = samples.slice(start, CHUNK), examples.slice(start, CHUNK)
        ids, rows = part.column("sample_id").to_pylist(), part.column("row").to_pylist()
        yield ids, rows, chosen.column("example_ids").to_pylist()


def _keyed(value: Json) -> Json:
    """Return the value with text keys throughout: the labels of a YAML template may be numbers."""
    if isinstance(value, dict):
        return {str(name): _keyed(item) for name, item in value.items()}
    return [_keyed(item) for item in value] if isinstance(value, list) else value


def _template_labels(dataset: DatasetSpec) -> list[str] | None:
    cfg = dataset.infer_cfg
    for template in (cfg.prompt_template, cfg.ice_template):
        own = template.get("template") if template else None
        if isinstance(own, dict) and not set(own) <= {"begin", "round", "end"}:
            return [str(label) for label in own]
    return None


def _references(dataset: DatasetSpec, samples: pa.Table) -> Iterator[str]:
    for text in samples.column("row").to_pylist():
        value = json.loads(text).get(dataset.reader_cfg.output_column)
        if value is not None and not isinstance(value, list | dict):
            yield str(value)
