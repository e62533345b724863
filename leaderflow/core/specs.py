"""What can be written in a spec: datasets, models, an evaluation. The words are those of the user's documents.

Unknown keys are refused everywhere. Mappings with a `type` (templates, retrievers, inferencers, evaluators, postprocessors) stay
plain JSON here; `core.registry` checks them against what they name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from leaderflow.core.types import Json

Range = None | int | float | str | list[int]
"""A sample range: all, a count, a fraction, a slice such as ``[:100]``, or row positions."""

Compat = Literal["opencompass"]

Typed = dict[str, Json]
"""A mapping with a `type` and that type's arguments."""


class Config(BaseModel):
    """Base of all specs: unknown keys refused, immutable, arbitrary JSON kept as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), hide_input_in_errors=True)


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
    n: Annotated[int, Field(ge=1)] = 1
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
    metric: str | None = None
    weights: dict[str, float] | None = None
    std: bool = False
    sum: bool = False
    harmonic_mean: bool = False
    transforms: dict[str, str] | None = None
    expected: int | None = None
    """How many members the family has; with fewer present the group says "40 of 57"."""


class Summarizer(Config):
    """What the leaderboard shows and in which order."""

    dataset_abbrs: list[str | list[str]] | None = None
    summary_groups: list[SummaryGroup] = Field(default_factory=list)


class EvaluationSpec(Config):
    """One evaluation: every model on every dataset."""

    models: list[ModelSpec] = Field(min_length=1)
    datasets: list[DatasetSpec] = Field(min_length=1)
    summarizer: Summarizer = Field(default_factory=Summarizer)
    suite: str | None = None
    """Name of the leaderboard this run belongs to."""
    shard_size: Annotated[int, Field(ge=1)] = 500
    """Samples in a shard; changes no key."""
    fresh: bool = False
    """Ask again although answers are stored."""
    offline: bool = False
    data_dir: str | None = None
    allow_unsafe_code: bool = False
    """Execute model code without a sandbox where there is none; changes no key."""

    @model_validator(mode="after")
    def _distinct(self) -> EvaluationSpec:
        for what, items in (("models", self.models), ("datasets", self.datasets)):
            names = [item.abbr for item in items]
            if twice := next((n for n in names if names.count(n) > 1), None):
                raise ValueError(f"two {what} have the abbr {twice!r}; give one of them another")
        return self


def split_cell(cell: str) -> tuple[str, str]:
    """Return (model, dataset) of a cell's name ``MODEL:DATASET``."""
    model, _, dataset = cell.partition(":")
    return model, dataset


def cell_name(model: str, dataset: str) -> str:
    """Return the name of a cell."""
    return f"{model}:{dataset}"
