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
from leaderflow.core.specs import Config, EvaluationSpec, TaskRunner
from leaderflow.core.types import Json
from leaderflow.core.validate import validate
from leaderflow.core.yaml import Located, Place

API = "OpenAISDK"
"""The model type whose weights may change behind the name."""


Names = list[str]
Suite = Annotated[str, Field(json_schema_extra={"enum": list(recipes.names("leaderboards"))})]
"""A choice of the suites that are there when the flow is deployed."""
Count = Annotated[int, Field(ge=0)]
"""A number of at least 1; 0 leaves it as the recipes say. A field that may be empty would be two fields in Prefect's form."""
Share = Annotated[float, Field(ge=0, le=1)]
Loss = Annotated[float, Field(ge=0)]
Spec = dict[str, Any]


class Form(Config):
    """One filled-in form."""

    models: Names = Field(default_factory=list)
    datasets: Names = Field(default_factory=list)
    suite: str = ""
    range: str = ""
    limit: Count = 0
    repeats: Count = 0
    concurrency: Count = 0
    shard_size: Count = 0
    task_runner: TaskRunner = "threads"
    data_dir: str = ""
    max_age: str = ""
    fresh: bool = False
    offline: bool = False
    settings: list[str] = Field(default_factory=list)
    threshold: Loss = 0.0
    truncation: Share = 0.1
    spec: Spec = Field(default_factory=dict)

    def evaluation(self) -> EvaluationSpec:
        """Return what is to be run: the suite, or models on datasets.

        Raises:
            SpecError: a name, a setting or a key is wrong.
        """
        changes = shorthand(self.range or None, self.limit or None, self.repeats or None, self.concurrency or None)
        changes += self.settings
        own: dict[str, Json] = {"offline": self.offline or None, "fresh": self.fresh or None}
        own |= {"data_dir": self.data_dir or None, "shard_size": self.shard_size or None}
        own |= {"task_runner": self.task_runner if self.task_runner != "threads" else None}
        if self.suite:
            own["suite"] = self.suite
            found = load_evaluation(self.suite, models=self.models, datasets=self.datasets, overrides=changes, files=False, **own)
        else:
            found = build_evaluation(self.models, self.datasets, changes, spec=self.spec, files=False, **own)
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
