"""retrieve: the in-context examples of every sample."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from inference.embeddings import EmbeddingStore
from leaderflow.core import identity
from leaderflow.core.errors import SpecError
from leaderflow.core.specs import DatasetSpec, ModelSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Backend, Capability, Json
from tasks.session import Session
from tasks.step import Step
from templating import stage


class RetrieveStep(Step):
    """Chooses the examples of one dataset's samples, with the help of a model where the retriever asks for one."""

    stage = "retrieve"

    def __init__(self, session: Session, dataset: DatasetSpec, model: ModelSpec | None, samples: pa.Table, pool: pa.Table) -> None:
        self.helpers = helpers(session, dataset, model)
        own = f" · {model.abbr}" if model and self.helpers and dataset.infer_cfg.embedder is None else ""
        super().__init__(session, f"retrieve {dataset.abbr}{own}")
        self.dataset, self.samples, self.pool = dataset, samples, pool

    def config(self) -> Json:
        """The retriever, the columns it compares, and the models it asks with what it shows them."""
        reader, infer = self.dataset.reader_cfg, self.dataset.infer_cfg
        columns = {"input": reader.input_columns, "output": reader.output_column, "template": reader.input_template}
        asked = {need: backend.identity for need, backend in self.helpers.items()}
        shown = [infer.prompt_template, infer.ice_template, infer.inferencer] if "loglikelihood" in asked else None
        return {"retriever": infer.retriever, "columns": columns, "compat": self.dataset.compat, "asked": asked, "shown": shown}

    def parents(self) -> list[str]:
        """The samples and the pool."""
        return [identity.table_digest(self.samples), identity.table_digest(self.pool)]

    def compute(self) -> Mapping[str, pa.Table]:
        """Choose."""
        return {"examples": choose(self.samples, self.pool, self.dataset, self.helpers, self.session.store)}


def helpers(session: Session, dataset: DatasetSpec, model: ModelSpec | None) -> dict[Capability, Backend]:
    """Return the models that a dataset's retriever asks: the embedder of its infer_cfg, else the evaluated model.

    Raises:
        SpecError: there is none that can do it.
    """
    found: dict[Capability, Backend] = {}
    for need in sorted(stage.retriever_needs(dataset)):
        asked = (dataset.infer_cfg.embedder if need == "embed" else None) or model
        backend = session.backend(asked) if asked else None
        if backend is None or need not in backend.capabilities:
            name = dataset.infer_cfg.retriever["type"]
            advice = "name one in infer_cfg.embedder" if need == "embed" else "choose another retriever or model"
            raise SpecError(f"{name} needs a model that can {need}; {advice}", key=f"{dataset.abbr}.infer_cfg.retriever")
        found[need] = backend
    return found


def asks_model(dataset: DatasetSpec) -> bool:
    """Say whether a dataset's retriever asks the evaluated model."""
    own = "embed" if dataset.infer_cfg.embedder else None
    return bool(stage.retriever_needs(dataset) - {own})


def choose(
    samples: pa.Table, pool: pa.Table, dataset: DatasetSpec, helpers: Mapping[Capability, Backend], store: Store | None = None
) -> pa.Table:
    """Return the EXAMPLES table; embeddings are kept in `store`, where one is given."""
    embedder, loglikelihood = helpers.get("embed"), helpers.get("loglikelihood")
    embed = embedder.embed if embedder else None
    if embedder and store:
        embed = EmbeddingStore(store, embedder.identity, embedder.embed)
    return stage.retrieve(
        samples,
        pool,
        dataset,
        embed=embed,
        loglikelihood=loglikelihood.loglikelihood if loglikelihood else None,
    )
