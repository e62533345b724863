"""Which models judge: those that the evaluator names, else the run's, else the one that OpenCompass' variables name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.specs import EvaluationSpec, ModelSpec
from leaderflow.core.types import Json, Judging
from leaderflow.core.validate import model_spec
from leaderflow.core.yaml import Located, Place

VARIABLES = ("OC_JUDGE_MODEL", "OC_JUDGE_API_KEY", "OC_JUDGE_API_BASE")
"""What OpenCompass reads where `judge_cfg` is empty: served name, key, endpoint."""


def judges_of(judging: Judging, spec: EvaluationSpec, *, key: str) -> list[ModelSpec]:
    """Return the models that answer an evaluator's questions.

    Args:
        judging: names of models of the spec, or model blocks.
        spec: whose `judges` and `models` can be named.
        key: where the evaluator stands, for messages.

    Raises:
        SpecError: there is no judge, or one that the spec does not have, or two of one name.
    """
    found = [_judge(named, spec, key) for named in judging.judges] or list(spec.judges)
    found = found or [judge for judge in [from_environment()] if judge]
    if not found:
        raise SpecError(
            "needs a judge: name a model with --judge, under judges: in the spec, or as the evaluator's judge "
            f"(or set {', '.join(VARIABLES)})",
            key=key,
        )
    names = [judge.abbr for judge in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SpecError(f"two judges have the abbr {twice!r}; give one of them another", key=key)
    return found


def from_environment(environment: Mapping[str, str] = os.environ) -> ModelSpec | None:
    """Return the judge that OpenCompass' variables name, with the settings that OpenCompass gives it, or None."""
    name, base = environment.get("OC_JUDGE_MODEL"), environment.get("OC_JUDGE_API_BASE")
    if not name:
        return None
    return ModelSpec(
        type="OpenAISDK",
        abbr=name.replace("/", "-").replace(":", "-"),
        path=name,
        key_env="OC_JUDGE_API_KEY",
        openai_api_base=base.split(",")[0].strip() if base else None,
        generation_kwargs={"temperature": 0.001},
        max_out_len=16384,
        max_seq_len=49152,
        rpm=960,
        batch_size=64,
    )


def with_environment(spec: EvaluationSpec, judgings: Sequence[Judging]) -> EvaluationSpec:
    """Return the spec with the environment's judge written into it where one is needed: a run's spec says all that was used."""
    needed = any(not judging.judges for judging in judgings) and not spec.judges
    judge = from_environment() if needed else None
    return spec.model_copy(update={"judges": [judge]}) if judge else spec


def _judge(named: Json, spec: EvaluationSpec, key: str) -> ModelSpec:
    if isinstance(named, Mapping):
        block = {"abbr": str(named.get("path", "judge")).replace("/", "-").replace(":", "-"), **named}
        return model_spec(Located(block, {(): Place(key)}))
    known = {model.abbr: model for model in [*spec.models, *spec.judges]}
    if named not in known:
        raise SpecError(f"there is no judge {named!r} among judges and models{did_you_mean(str(named), known)}", key=key)
    return known[named]
