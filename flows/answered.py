"""The spec of a finished run, to be walked again without one request."""

from __future__ import annotations

from collections.abc import Iterable

from flows.plan import make_plan
from flows.progress import Silent
from leaderflow.core.errors import UsageError
from leaderflow.core.load import load_evaluation
from leaderflow.core.manifest import Manifest, manifest_place, manifests
from leaderflow.core.sources import FromFile
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store


def answered(store: Store, run: str, overrides: Iterable[str] = (), from_file: FromFile | None = None) -> EvaluationSpec:
    """Return a run's spec with some settings changed, where every answer that it then needs is stored; no answer is too old for it.

    Raises:
        UsageError: there is no such run, or something would have to be asked.
    """
    name = Manifest.load(store, run).run
    spec = load_evaluation(manifests(store)[name], overrides=overrides, from_file=from_file)
    models = [model.model_copy(update={"max_age": None}) for model in spec.models]
    spec = spec.model_copy(update={"models": models, "fresh": False, "task_runner": "threads"})
    found = make_plan(spec, store, Silent())
    if found.to_ask or found.judges_open:
        judges = sum((cell.judge_requests or 0) - (cell.judge_answered or 0) for cell in found.cells)
        ask = f"{found.to_ask} requests" + (f" ({judges} to judges)" if judges else "")
        more = f", and up to {found.judges_open} to judges" if found.judges_open else ""
        raise UsageError(
            f"rescoring would have to ask {ask}{more}; `leaderflow run {manifest_place(store, name)}` with the same --set asks them"
        )
    return spec
