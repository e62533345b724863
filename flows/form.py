"""What a form, a schedule or the API may say: flat, typed parameters, checked as one before anything loads.

The flows show these types as their parameters; `Form` holds them together. Models and datasets are recipe names: a form names no
file, no address and no key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from inference.answers import seconds
from leaderflow.core import recipes
from leaderflow.core.load import build_evaluation, load_evaluation
from leaderflow.core.overrides import shorthand
from leaderflow.core.specs import Config, EvaluationSpec
from leaderflow.core.types import Json
from leaderflow.core.validate import validate
from leaderflow.core.yaml import Located, Place

API = "OpenAISDK"
"""The model type whose weights may change behind the name."""


Models = Annotated[list[str], Field(description="Model recipes, such as smollm2-135m.")]
Datasets = Annotated[list[str], Field(description="Dataset recipes or families, such as gsm8k or mmlu.")]
Suite = Annotated[
    str, Field(description="The leaderboard recipe.", json_schema_extra={"enum": list(recipes.names("leaderboards"))})
]
"""A choice of the suites that are there when the flow is deployed."""
Range = Annotated[str | None, Field(description="Samples of every dataset: '[:100]', a count, or a fraction such as 0.1.")]
Limit = Annotated[int | None, Field(ge=1, description="Only the first N samples of every dataset.")]
Repeats = Annotated[int | None, Field(ge=1, description="Ask everything N times.")]
Concurrency = Annotated[int | None, Field(ge=1, description="Requests in flight (API) or rows in a batch, for every model.")]
ShardSize = Annotated[int | None, Field(ge=1, description="Samples in a shard; changes no result.")]
DataDir = Annotated[str | None, Field(description="The worker's folder of local data, looked up before any network.")]
MaxAge = Annotated[str | None, Field(description="How long answers of APIs without a revision are reused, such as 20h.")]
Fresh = Annotated[bool, Field(description="Ask again although answers are stored.")]
Offline = Annotated[bool, Field(description="Open no socket but the model's.")]
Settings = Annotated[list[str], Field(description="Changes of the spec as KEY=VALUE, such as infer_cfg.inferencer.max_out_len=64.")]
Threshold = Annotated[float, Field(ge=0, description="A significant loss of more than this, in the metric's unit, is an alert.")]
Truncation = Annotated[float, Field(ge=0, le=1, description="A cell with more than this share of cut-off answers is an alert.")]
Spec = Annotated[dict[str, Any] | None, Field(description="Further keys of an evaluation's file, as JSON.")]


class Form(Config):
    """One filled-in form."""

    models: Models = Field(default_factory=list)
    datasets: Datasets = Field(default_factory=list)
    suite: str | None = None
    range: Range = None
    limit: Limit = None
    repeats: Repeats = None
    concurrency: Concurrency = None
    shard_size: ShardSize = None
    data_dir: DataDir = None
    max_age: MaxAge = None
    fresh: Fresh = False
    offline: Offline = False
    settings: Settings = Field(default_factory=list)
    threshold: Threshold = 0.0
    truncation: Truncation = 0.1
    spec: Spec = None

    def evaluation(self) -> EvaluationSpec:
        """Return what is to be run: the suite, or models on datasets.

        Raises:
            SpecError: a name, a setting or a key is wrong.
        """
        changes = shorthand(self.range, self.limit, self.repeats, self.concurrency) + list(self.settings)
        own: dict[str, Json] = {"data_dir": self.data_dir, "offline": self.offline or None, "fresh": self.fresh or None}
        own["shard_size"] = self.shard_size
        if self.suite is None:
            found = build_evaluation(self.models, self.datasets, changes, spec=self.spec, files=False, **own)
        else:
            own["suite"] = self.suite
            found = load_evaluation(self.suite, models=self.models, datasets=self.datasets, overrides=changes, files=False, **own)
        return measured(found, self.max_age) if self.max_age else found


def filled(parameters: Mapping[str, Any]) -> Form:
    """Return the form that a flow's parameters fill in.

    Raises:
        SpecError: a value has the wrong type; the message names it.
    """
    return validate(Form, Located(dict(parameters), {(): Place("parameters")}))


def measured(spec: EvaluationSpec, max_age: str) -> EvaluationSpec:
    """Return the spec with `max_age` for models that may change behind their name: APIs without a revision or an age of their own.

    Raises:
        SpecError: `max_age` is no age.
    """
    seconds(max_age)
    models = [
        model.model_copy(update={"max_age": max_age})
        if model.type == API and model.revision is None and model.max_age is None
        else model
        for model in spec.models
    ]
    return spec.model_copy(update={"models": models})
