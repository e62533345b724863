"""The contract between the stages: read this first.

What passes from stage to stage is an Arrow table (schemas in `leaderflow.core.artifacts`). The values and protocols here are what
the stages hand to each other inside a process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Protocol, TypedDict, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

Row = dict[str, Json]
"""One dataset row, in the source's own column order."""

Status = Literal["ok", "truncated", "filtered", "rejected", "error", "unparsed"]
"""What became of a row; only postprocessing gives ``unparsed``. DESIGN: failed is not wrong."""

Capability = Literal["messages", "text", "generate", "tools", "loglikelihood", "embed"]
"""``messages``/``text``: the kinds of input a backend takes; the others: what it can be asked for (``tools``: OpenAI's)."""

Mode = Literal["gen", "ppl"]
"""``gen`` blanks the answer and stops at the model's turn; ``ppl`` renders every candidate whole."""


class Message(TypedDict):
    """One chat message; `content` is text, or a list of OpenAI content parts. An empty assistant turn is a slot to fill."""

    role: str
    content: str | list[dict[str, Json]]
    name: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One model input: exactly one of `messages` and `text` is set.

    `continuation` is the part whose likelihood counts; None means the whole text (perplexity).
    """

    messages: tuple[Message, ...] | None = None
    text: str | None = None
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Generation settings: every field changes what the model may answer, so every field is in the request key.

    `max_out_len` and `min_out_len` count tokens; `stop` are strings, cut off from the output; `extra` goes into an API's body or
    into the engine's sampling arguments as it is.
    """

    max_out_len: int | None = None
    min_out_len: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model: a prompt, its settings and the repeat it belongs to."""

    request_key: str
    prompt: Prompt
    settings: Settings
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to one request.

    `nll` is the negative log-likelihood in nats summed over `scored_tokens` tokens; `token_logprobs` are theirs, in order.
    `turns` holds the assistant turns of a multi-turn request. `reasoning_tokens` are part of `output_tokens`: as the provider
    reports them, or the reasoning's share of the characters (`reasoning_counted` says which). `error_class` is ``retryable``,
    ``sample`` or ``run``.
    """

    request_key: str
    status: Status
    output: str | None = None
    reasoning: str | None = None
    turns: tuple[str, ...] | None = None
    nll: float | None = None
    scored_tokens: int | None = None
    token_logprobs: tuple[float, ...] | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    reasoning_counted: Literal["reported", "share"] | None = None
    latency_s: float | None = None
    attempts: int = 1
    error: str | None = None
    error_class: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a postprocessor found: `value` (None: nothing), and where in the output (character offsets)."""

    value: Json
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One sample × repeat that can be scored. `prediction` is None where nothing was extracted.

    `place` is the sample's place in the read table, from 0 on; `cluster` groups rows for clustered errors; `output` is the whole
    answer and `rivals` are what other models answered to it (model → answer), both only where a judge is to be asked or heard.
    """

    sample_id: str
    repeat: int
    status: Status
    prediction: Json
    reference: Json
    row: Row
    cluster: str | None = None
    place: int = 0
    output: str = ""
    rivals: Mapping[str, Any] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether the model never answered and never will: wrong whatever the evaluator says."""
        return self.status in ("filtered", "rejected")


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a cell, in its own unit; `scale` is the unit's upper end (1, 100 or None for no bound)."""

    name: str
    value: float | None
    scale: float | None = 100.0
    stderr: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Judging:
    """How an evaluator's questions are put to its judges: known before any data, so that it can be checked then.

    `judges` are names of models in the spec or model blocks (none: the run's judges); `template` is a prompt_template over the
    columns of a question; `reader` the postprocessor that reads a verdict (None: the whole reply); `blank` the column that a
    legacy template leaves empty; `compat` the semantics of the template. A question with fewer than
    `minimum` readable verdicts has none. `rivals` are models of the run whose answers are compared with the one under test;
    ``*`` is every other one.
    """

    template: Mapping[str, Json]
    judges: tuple[Json, ...] = ()
    inferencer: Mapping[str, Json] = field(default_factory=lambda: {"type": "GenInferencer"})
    reader: Mapping[str, Json] | None = None
    repeats: int = 1
    minimum: int = 1
    blank: str | None = None
    compat: Literal["opencompass"] | None = None
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the judges about one answer; `name` tells several apart (order, criterion), `row` is for the template."""

    sample_id: str
    repeat: int
    name: str
    row: Row


class TokenCounter(Protocol):
    """Counts the tokens of a prompt as the model will see it, chat template included."""

    identity: str
    """Names the tokenizer; part of the render key."""

    def count(self, prompt: Prompt) -> int:
        """Return the number of tokens of `prompt`."""
        ...

    def text(self, prompt: Prompt) -> str:
        """Return the text that is tokenized: what the chat template makes of the messages, the continuation at its end."""
        ...


@runtime_checkable
class Backend(Protocol):
    """A model. `identity` names everything about it that can change an answer.

    Making one is cheap: nothing is reached or loaded, so that a run whose answers are all stored needs no model at all.
    """

    identity: str
    capabilities: frozenset[Capability]

    def connect(self) -> None:
        """See now, rather than with the first request, that the model can be asked; nothing is loaded.

        Raises:
            BackendError: it cannot be reached.
        """
        ...

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield one answer a request, in the order of completion. Never raises for one row: that row's status is ``error``.

        Raises:
            BackendError: nothing can be asked any more (bad key, dead engine).
        """
        ...

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield answers with `nll`, `scored_tokens` and `token_logprobs` of the continuation (or of the whole text)."""
        ...

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array of shape (len(texts), dimension), rows L2-normalised."""
        ...

    def close(self) -> None:
        """Free what the backend holds; further calls do nothing."""
        ...


class Retriever(Protocol):
    """Chooses the in-context examples (ICE) of every sample from the train split."""

    needs: frozenset[Capability]

    def retrieve(self, samples: Sequence[tuple[str, Row]], pool: Sequence[tuple[str, Row]]) -> list[list[str]]:
        """Return for each sample the ids of its examples, in the order in which they stand in the prompt."""
        ...


class Inferencer(Protocol):
    """Turns rendered model inputs into requests; says how templates must be rendered and what the backend must be able to do."""

    mode: Mode
    needs: Capability
    choice: str | None
    """How postprocessing picks among labels (``token_mean``, …); None for generation."""
    repeats: int

    def requests(self, rendered: pa.Table, identity: str, defaults: Settings) -> list[Request]:
        """Return a request for each model input × repeat, in row order, rows with status ``rejected`` left out."""
        ...

    def ask(
        self,
        requests: Sequence[Request],
        backend: Backend,
        stored: Callable[[Sequence[str]], Mapping[str, Answer]],
        keep: Callable[[Answer], None],
    ) -> Iterator[Answer]:
        """Yield an answer a request, in the order of completion; turns and windows are looked up in `stored`, put by `keep`."""
        ...

    def measured(self, request: Request, answer: Answer) -> Answer:
        """Return an answer with status ``ok`` as the infer table shows it; the store keeps what the model said."""
        ...


class Cell(Protocol):
    """The rows of a cell that can be scored, those whose status is not ``error``: read as often as needed, never all at once."""

    def blocks(self, size: int | None) -> Iterator[Sequence[Item]]:
        """Yield the rows in order, `size` at a time; None: all in one block, held in memory."""
        ...

    def predictions(self) -> Iterator[Json]:
        """Yield the predictions alone, in the same order; None where nothing was extracted."""
        ...

    def references(self) -> Iterator[Json]:
        """Yield the references alone, in the same order."""
        ...


class Evaluator(Protocol):
    """Scores a cell. Two phases, so that a judge is nothing special: its questions are rendered and asked like any prompt.

    Rows come block by block, and what is kept of a row that was scored are numbers in columns, so that a cell's size is no matter.
    """

    needs: frozenset[str]
    """Columns of the sample that must exist."""
    judging: Judging | None
    """How judges are asked; None where none are needed."""

    def check(self, rows: Iterable[tuple[Json, Row]]) -> None:
        """See, when the data are read and before any request, that all rows, each with its reference, can be scored.

        Raises:
            DataError: one cannot, whatever is answered.
        """
        ...

    def questions(self, cell: Cell) -> Iterator[Question]:
        """Yield what the judges are asked; rows without an answer are never asked about."""
        ...

    def score(self, cell: Cell, answers: pa.Table | None) -> tuple[Iterator[pa.RecordBatch], list[Metric]]:
        """Return the scores as batches of RATED, one row an item in the cell's order, and the metrics; `answers` are VERDICTS."""
        ...
