"""What can be written in a spec: datasets, models, an evaluation. The words are those of the user's documents.

Unknown keys are refused everywhere. Mappings with a `type` (templates, retrievers, inferencers, evaluators, postprocessors) stay
plain JSON here; `core.registry` checks them against what they name.
"""

from __future__ import annotations

from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationInfo, field_validator, model_validator

from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.expression import formula
from leaderflow.core.types import Json

Range = None | int | float | str | list[int]
"""A sample range: all, a count, a fraction, a slice such as ``[:100]``, or row positions."""

Compat = Literal["opencompass"]

TaskRunner = Literal["threads", "ray"]

Typed = dict[str, Json]
"""A mapping with a `type` and that type's arguments."""


class Config(BaseModel):
    """Base of all specs: unknown keys refused, immutable, arbitrary JSON kept as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), hide_input_in_errors=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _a_flag_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Python counts with True; nobody who writes ``n: true`` means 1."""
        wanted = cls.model_fields[info.field_name or ""].annotation
        flags = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, bool)]
        if flags and {int, float, list[int]} & {getattr(part, "__origin__", part) for part in (wanted, *get_args(wanted))}:
            raise ValueError(f"must be a number, not {str(flags[0]).lower()}")
        return value


class ReaderCfg(Config):
    """Fields, splits and ranges of a dataset."""

    input_columns: list[str]
    """Columns that build the model input; a string is split on blanks."""
    output_column: str | None = None
    """The reference answer; None for datasets without one."""
    train_split: str | None = None
    """Where examples come from; by default ``train``, or the only split."""
    test_split: str | None = None
    """What is evaluated; by default ``test``, or the only split."""
    train_range: Range = None
    test_range: Range = None
    id_column: str | None = None
    """The source row's own id; by default a hash of its content."""
    cluster_column: str | None = None
    """Rows with one value here are not independent; standard errors are clustered by it."""
    seed: int = 0
    """Seeds the native draw of integer and fraction ranges."""
    input_template: Typed | None = None
    """OpenCompass: the text that similarity retrievers compare."""

    @field_validator("input_columns", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return value.split() if isinstance(value, str) else value

    @field_validator("train_range", "test_range", mode="before")
    @classmethod
    def _no_flag(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("a range is a count, a fraction, a slice such as '[:100]', or a list of positions")
        return value


class RunCfg(Config):
    """What a model takes of a Ray cluster; changes no key, and nothing on one machine."""

    num_gpus: Annotated[float, Field(ge=0)] | None = None
    """GPUs of one replica, less than 1 for a part; by default as many as its engine uses, where there are any."""
    replicas: Annotated[int, Field(ge=1)] | None = None
    """Copies at most; by default as many as there are GPUs for, and one a node without GPUs or for an API."""


class ModelSpec(Config):
    """One model block. What a type does not know it refuses when the model is checked."""

    type: str
    abbr: Annotated[str, Field(pattern=r"^[^\s:/\\]+$")]
    path: str
    """Served name, hub id or folder of weights."""
    revision: str | None = None
    """Weights or API revision; with it, host and port are no part of the identity."""
    tokenizer: str | None = None
    """Folder or hub id of the tokenizer that counts an API model's tokens."""
    key: str | None = None
    """``ENV`` reads OPENAI_API_KEY; nothing else may stand here."""
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """Name of the environment variable that holds the key."""
    openai_api_base: str | None = None
    max_seq_len: Annotated[int, Field(ge=1)] | None = None
    max_out_len: Annotated[int, Field(ge=1)] | None = None
    batch_size: Annotated[int, Field(ge=1)] = 8
    """Requests in flight for an API, rows in a batch for local weights."""
    meta_template: Json = None
    generation_kwargs: dict[str, Json] = Field(default_factory=dict)
    """temperature, top_p, top_k, seed, stop; anything else goes to the engine as it is."""
    pred_postprocessor: Typed | None = None
    """The model's own cleaning, before the dataset's."""
    max_age: str | None = None
    """How long answers of an API without a revision are reused, such as ``20h``."""
    timeout: Annotated[float, Field(gt=0)] = 600.0
    """Seconds for one request."""
    retries: Annotated[int, Field(ge=0)] = 5
    """Attempts after the first one."""
    rpm: Annotated[int, Field(ge=1)] | None = None
    tpm: Annotated[int, Field(ge=1)] | None = None
    shared_limit: Annotated[str, Field(min_length=1)] | None = None
    """The Prefect global concurrency limit (a GPU, an API account) of which every shard holds a slot while it is asked."""
    run_cfg: RunCfg = Field(default_factory=RunCfg)
    """What it takes of a cluster."""
    arguments: dict[str, Json] = Field(default_factory=dict)
    """Further arguments of the model type (dtype, device_map, extra_body, …)."""

    @field_validator("key")
    @classmethod
    def _no_secret(cls, value: str | None) -> str | None:
        if value not in (None, "ENV"):
            raise ValueError("a key must not stand in a spec; write `key: ENV` (reads OPENAI_API_KEY) or `key_env: NAME`")
        return value


class InferCfg(Config):
    """Prompt, examples and the way of asking."""

    prompt_template: Typed | None = None
    ice_template: Typed | None = None
    retriever: Typed = Field(default_factory=lambda: {"type": "ZeroRetriever"})
    embedder: ModelSpec | None = None
    """The model that embeds texts for similarity retrievers; by default the evaluated model, if it can."""
    inferencer: Typed

    @field_validator("embedder", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return {"abbr": "embedder", **value} if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _some_template(self) -> InferCfg:
        if self.prompt_template is None and self.ice_template is None:
            raise ValueError("needs a prompt_template (or an ice_template that serves as one)")
        return self


class EvalCfg(Config):
    """Cleaning and scoring."""

    evaluator: Typed
    pred_postprocessor: Typed | None = None
    dataset_postprocessor: Typed | None = None
    pred_role: str | None = None
    extractors: dict[str, Typed] = Field(default_factory=dict)
    """Further postprocessors run beside the first one, for `show --audit`; they decide no score."""


class DatasetSpec(Config):
    """One dataset configuration: source, reader_cfg, infer_cfg, eval_cfg."""

    type: str
    abbr: Annotated[str, Field(pattern=r"^[^\s:/\\]+$")]
    path: str | None = None
    """Hub id or file."""
    name: str | None = None
    """The hub's configuration name (subset)."""
    revision: str | None = None
    local: dict[str, str] | str | None = None
    """Files below the data directory, looked up before any network: split → path, or one path."""
    columns: list[str] | None = None
    """Column names of a CSV file without a header."""
    prepare: str | None = None
    """``file.py:function`` beside the recipe, or ``package.module:function``: row → row, or row → None to leave it out."""
    arguments: dict[str, Json] = Field(default_factory=dict)
    """Further arguments of the dataset type."""
    reader_cfg: ReaderCfg
    infer_cfg: InferCfg
    eval_cfg: EvalCfg
    compat: Compat | None = None
    n: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Repeats of every request."""
    k: list[int] = Field(default_factory=lambda: [1])
    """The k of pass@k and G-Pass@k; none above `n`."""
    group: str | None = None
    """The family's group on the leaderboard."""
    source: str | None = None
    """The recipe or file this came from (not part of any key)."""

    @field_validator("k", mode="before")
    @classmethod
    def _list(cls, value: Any) -> Any:
        return [value] if isinstance(value, int) else value

    @model_validator(mode="after")
    def _k_within_n(self) -> DatasetSpec:
        if bad := [k for k in self.k if not 1 <= k <= self.n]:
            raise ValueError(f"k {bad[0]} must be between 1 and n ({self.n})")
        return self


class SummaryGroup(Config):
    """A row of the leaderboard made of others."""

    name: str
    subsets: list[str | list[str]]
    """Datasets or earlier groups by name (their first metric counts), or pairs of name and metric."""
    metric: str | None = None
    """What the row's metric is called; by default after the way of combining."""
    weights: dict[str, FiniteFloat] | None = None
    """By ``name`` or ``name@metric``; a member that is not named here has the weight 0."""
    std: bool = False
    sum: bool = False
    harmonic_mean: bool = False
    transforms: dict[str, str] | None = None
    """Applied to a member's value before it is combined: an expression in x, such as ``100 - x``."""
    expected: int | None = None
    """How many members the family has; with fewer present the group says "40 of 57"."""

    @field_validator("subsets")
    @classmethod
    def _name_or_pair(cls, value: list[str | list[str]]) -> list[str | list[str]]:
        if bad := next((item for item in value if isinstance(item, list) and len(item) != 2), None):
            raise ValueError(f"{bad} must be a name, or a pair of name and metric")
        return value

    @field_validator("transforms")
    @classmethod
    def _arithmetic(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for text in (value or {}).values():
            try:
                formula(text)
            except SpecError as exc:
                raise ValueError(exc.message) from None
        return value

    @model_validator(mode="after")
    def _of_members(self) -> SummaryGroup:
        members = self.members()
        named = {*members, *("@".join(item) for item in self.subsets if isinstance(item, list))}
        for field in ("weights", "transforms"):
            for key in getattr(self, field) or {}:
                if key not in named and key.rpartition("@")[0] not in members:
                    raise ValueError(f"{field} names {key!r}, which is not among the subsets{did_you_mean(key, named)}")
        if self.weights is not None and not self.sum and min(self.weights.values(), default=0.0) < 0:
            raise ValueError("a mean has no negative weights; write `sum: true` for a difference")
        if self.weights is not None and not self.sum and not sum(self.weights.values()):
            raise ValueError("the weights add up to nothing")
        return self

    def members(self) -> list[str]:
        """Return the names of the datasets and groups that it is made of."""
        return [item if isinstance(item, str) else item[0] for item in self.subsets]


class Summarizer(Config):
    """What the leaderboard shows and in which order."""

    dataset_abbrs: list[str | Annotated[list[str], Field(min_length=2, max_length=2)]] | None = None
    """Datasets and groups by name (all their metrics), or pairs of name and metric; by default everything, groups last."""
    summary_groups: list[SummaryGroup] = Field(default_factory=list)

    def in_order(self, datasets: Collection[str]) -> list[SummaryGroup]:
        """Return the groups so that each comes after those it is made of; a dataset goes before a group of its name.

        Raises:
            ValueError: two groups of one name, or groups that are made of each other.
        """
        named = {group.name: group for group in self.summary_groups}
        if len(named) < len(self.summary_groups):
            names = [group.name for group in self.summary_groups]
            raise ValueError(f"two summary groups are named {next(n for n in names if names.count(n) > 1)!r}")
        parts = {name: [m for m in group.members() if m in named and m not in datasets] for name, group in named.items()}
        try:
            return [named[name] for name in TopologicalSorter(parts).static_order()]
        except CycleError as exc:
            raise ValueError(f"summary groups are made of each other: {' → '.join(exc.args[1])}") from None


class EvaluationSpec(Config):
    """One evaluation: every model on every dataset."""

    models: list[ModelSpec] = Field(min_length=1)
    datasets: list[DatasetSpec] = Field(min_length=1)
    judges: list[ModelSpec] = Field(default_factory=list)
    """The models that judge where an evaluator asks for judges and names none."""
    summarizer: Summarizer = Field(default_factory=Summarizer)
    suite: str | None = None
    """Name of the leaderboard this run belongs to."""
    shard_size: Annotated[int, Field(ge=1)] = 500
    """Samples in a shard; changes no key."""
    task_runner: TaskRunner = "threads"
    """Where models are asked: from this process, or by workers of a Ray cluster; changes no key."""
    ray_address: str | None = None
    """The cluster's address, such as ``10.0.0.1:6379``; by default that of the environment's RAY_ADDRESS."""
    fresh: bool = False
    """Ask again although answers are stored."""
    offline: bool = False
    data_dir: str | None = None
    allow_unsafe_code: bool = False
    """Execute model code without a sandbox where there is none; changes no key."""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """Dollars that the run may spend; like the next two, it stops the asking and changes no key."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens of prompts and answers together."""
    max_time: str | None = None
    """How long requests may leave, such as ``2h``."""

    @model_validator(mode="after")
    def _distinct(self) -> EvaluationSpec:
        for what, items in (("models", self.models), ("datasets", self.datasets), ("judges", self.judges)):
            names = [item.abbr for item in items]
            if twice := next((n for n in names if names.count(n) > 1), None):
                raise ValueError(f"two {what} have the abbr {twice!r}; give one of them another")
        self.summarizer.in_order({dataset.abbr for dataset in self.datasets})
        return self


def split_cell(cell: str) -> tuple[str, str]:
    """Return (model, dataset) of a cell's name ``MODEL:DATASET``."""
    model, _, dataset = cell.partition(":")
    return model, dataset


def cell_name(model: str, dataset: str) -> str:
    """Return the name of a cell."""
    return f"{model}:{dataset}"
