"""infer: the answers of one shard. What the store already holds is never asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from inference import stage
from leaderflow.core import identity, sandbox
from leaderflow.core.specs import DatasetSpec, ModelSpec, cell_name
from leaderflow.core.store import ArtifactRef
from leaderflow.core.types import Inferencer, Json
from tasks.job import Job
from tasks.session import Session
from tasks.step import Outcome, Step


class InferStep(Step):
    """Asks the model for one shard's prompts."""

    stage = "infer"

    def __init__(
        self, session: Session, label: str, dataset: DatasetSpec, model: ModelSpec, inferencer: Inferencer, prompts: ArtifactRef
    ) -> None:
        super().__init__(session, f"infer {label}")
        self.dataset, self.model, self.inferencer, self.prompts = dataset, model, inferencer, prompts
        self.defaults = stage.defaults(model, dataset.infer_cfg.inferencer)

    def elsewhere(self) -> Outcome | None:
        """Have a worker of the cluster ask, where there is one."""
        session = self.session
        if session.cluster is None:
            return None
        identity, since = session.backend(self.model).identity, session.answers(self.model).opened_at
        return session.cluster.perform(Job(self.label, self.dataset, self.model, self.prompts, identity, since, session.halted))

    def config(self) -> Json:
        """Model identity, every generation setting, the inferencer and the repeats."""
        return {
            "model": self.session.backend(self.model).identity,
            "settings": identity.settings_json(self.defaults),
            "inferencer": {k: v for k, v in self.dataset.infer_cfg.inferencer.items() if k != "batch_size"},
            "repeats": self.dataset.n,
        }

    def parents(self) -> list[str]:
        """The rendered prompts."""
        return [self.prompts.digest]

    def reusable(self) -> bool:
        """Not with --fresh; and a table cannot tell how old its answers are, so max_age goes back to the answers."""
        return not self.session.spec.fresh and self.model.max_age is None

    def compute(self) -> Mapping[str, pa.Table]:
        """Ask what is missing."""
        session, cell = self.session, cell_name(self.model.abbr, self.dataset.abbr)
        heard = session.heard
        with sandbox.unsafe_code(session.spec.allow_unsafe_code):  # an agent's tools execute programs
            outputs = stage.infer(
                session.store.read(self.prompts),
                self.inferencer,
                session.backend(self.model),
                session.answers(self.model),
                self.defaults,
                fresh=session.spec.fresh,
                on_answer=(lambda answer: heard(cell, answer)) if heard else None,
                halted=lambda: session.halted,
            )
        return {"outputs": outputs}

    def notes(self) -> dict[str, Json]:
        """What the endpoint says of itself."""
        described = getattr(self.session.backend(self.model), "described", None)
        return {"endpoint": described} if described else {}

    def unanswered(self, tables: Mapping[str, Any]) -> tuple[int, str]:
        """Count the rows with status ``error`` and tell the most frequent reason."""
        outputs = tables["outputs"]
        failed = outputs.filter(pa.compute.equal(outputs.column("status"), "error"))
        if not failed.num_rows:
            return 0, ""
        reasons = Counter(reason or "no answer" for reason in failed.column("error").to_pylist())
        return failed.num_rows, f"{failed.num_rows} of {outputs.num_rows} requests unanswered: {reasons.most_common(1)[0][0]}"
