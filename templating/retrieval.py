"""The retrieve stage: the in-context examples of every sample, as ids in prompt order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from leaderflow.core import registry
from leaderflow.core.artifacts import EXAMPLES, rows_of, table_of
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.types import Capability, Json, Row
from templating.compat import Rules, rules_of
from templating.retrievers.base import KEY, Context, Embed, Loglikelihood
from templating.retrievers.candidates import candidates
from templating.substitute import filler, shown

if TYPE_CHECKING:
    from leaderflow.core.specs import DatasetSpec, ReaderCfg
    from leaderflow.core.types import Retriever


def retrieve(
    samples: pa.Table,
    pool: pa.Table,
    dataset: DatasetSpec,
    *,
    embed: Embed | None = None,
    loglikelihood: Loglikelihood | None = None,
) -> pa.Table:
    """Choose every sample's examples.

    Args:
        samples: the read table of what is evaluated (SAMPLES).
        pool: the read table of the train split (SAMPLES), in the split's order.
        dataset: the dataset's spec.
        embed: texts → float32 array (n, dimension), for retrievers whose `needs` name ``embed``.
        loglikelihood: `Backend.loglikelihood`, for retrievers whose `needs` name ``loglikelihood``.

    Returns:
        EXAMPLES, in the samples' order.

    Raises:
        SpecError: the retriever's configuration is wrong, or what it needs was not handed over.
        DataError: the pool is too small, or rows lack a column.
    """
    key = f"{dataset.abbr}.{KEY}"
    retriever = _build(dataset, context(dataset, pool, embed, loglikelihood), key)
    given = {"embed": embed, "loglikelihood": loglikelihood}
    if lacking := sorted(name for name in retriever.needs if given.get(name) is None):
        name = dataset.infer_cfg.retriever["type"]
        raise SpecError(f"{name} needs a model that offers {lacking[0]!r}; choose another retriever or model", key=key)
    rows = rows_of(samples)
    try:
        chosen = retriever.retrieve(rows, rows_of(pool))
    except DataError as exc:
        raise DataError(f"{dataset.abbr}.{exc}") from exc
    pairs = zip(rows, chosen, strict=True)
    return table_of(EXAMPLES, [{"sample_id": sample_id, "example_ids": ids} for (sample_id, _), ids in pairs])


def needs(dataset: DatasetSpec, *, key: str = KEY) -> frozenset[Capability]:
    """Check the dataset's retriever and return what it asks of a model; empty for most.

    Raises:
        SpecError: the retriever is unknown, or one of its arguments or their values is wrong.
    """
    return _build(dataset, context(dataset), key).needs


def context(
    dataset: DatasetSpec, pool: pa.Table | None = None, embed: Embed | None = None, loglikelihood: Loglikelihood | None = None
) -> Context:
    """Return what the dataset's retriever is built with."""
    reader, rules = dataset.reader_cfg, rules_of(dataset.compat)
    return Context(
        text=_texts(reader, rules),
        twin=lambda row: [_column(row, name) for name in reader.input_columns] or row,
        label=lambda row: _column(row, reader.output_column),
        compat=rules.recorded_retrieval,
        embed=embed,
        loglikelihood=loglikelihood,
        render=None if pool is None else candidates(dataset, pool),
    )


def _build(dataset: DatasetSpec, given: Context, key: str) -> Retriever:
    try:
        retriever: Retriever = registry.build("retriever", dataset.infer_cfg.retriever, key=key, context=given)
    except SpecError as exc:
        raise SpecError(exc.message, key=key) from exc
    if not (hasattr(retriever, "retrieve") and hasattr(retriever, "needs")):
        raise SpecError(f"{dataset.infer_cfg.retriever['type']} is no retriever: it lacks `retrieve` or `needs`", key=key)
    return retriever


def _texts(reader: ReaderCfg, rules: Rules) -> Callable[[Row], str]:
    """Return row → the text that similarity retrievers compare: the input columns joined by blanks, or the input_template."""
    if reader.input_template is None:
        show = str if rules.literal_fields else _shown
        names: Sequence[str | None] = reader.input_columns or [None]
        return lambda row: " ".join(show(_column(row, name)) for name in names)
    template = reader.input_template.get("template")
    if not isinstance(template, str):
        raise SpecError(f"the template must be text with {{columns}}, got {template!r}", key="reader_cfg.input_template")
    return lambda row: filler(row, literal=rules.literal_fields)(template)


def _shown(value: Json) -> str:
    return "" if value is None else shown(value, "")


def _column(row: Row, name: str | None) -> Json:
    if name is None:
        raise SpecError(
            "this retriever reads columns that reader_cfg does not name: input_columns or output_column is empty", key=KEY
        )
    if name not in row:
        raise DataError(f"{KEY}: a row has no column {name!r} (it has {', '.join(map(repr, row))})")
    return row[name]
