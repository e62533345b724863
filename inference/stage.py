"""The infer stage: rendered prompts in, answers out; what is stored is never asked again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from inference.answers import AnswerStore
from inference.ends import ends_of_turn
from inference.inferencers.gen import GenInferencer, checked_limit, with_kwargs
from leaderflow.core import registry
from leaderflow.core.artifacts import OUTPUTS, table_of
from leaderflow.core.errors import SpecError
from leaderflow.core.specs import ModelSpec, Typed
from leaderflow.core.types import Answer, Backend, Capability, Inferencer, Request, Settings

_HANDED = frozenset({"spec"})
_ANSWER_COLUMNS = tuple(name for name in OUTPUTS.names if name in Answer.__dataclass_fields__ and name != "request_key")


def check_model(model: ModelSpec) -> None:
    """Refuse a model block whose type or arguments are wrong, without connecting or loading.

    Raises:
        SpecError: names the key.
    """
    registry.check("model", _typed(model), key=f"models.{model.abbr}", handed=_HANDED)


def capabilities(model: ModelSpec) -> frozenset[Capability]:
    """Return what a model can be asked for and which inputs it takes, without connecting or loading."""
    factory: Any = registry.resolve("model", model.type, key=f"models.{model.abbr}.type")
    claimed: frozenset[Capability] = factory.claims(**model.arguments)
    return claimed


def make_backend(model: ModelSpec) -> Backend:
    """Make a model's backend; nothing is reached or loaded yet.

    Raises:
        SpecError: the block is wrong (unknown argument, key variable not set).
        BackendError: there are no such weights.
    """
    backend: Backend = registry.build("model", _typed(model), key=f"models.{model.abbr}", spec=model)
    return backend


def open_backend(model: ModelSpec) -> Backend:
    """Make a model's backend and see that it can be asked.

    Raises:
        SpecError: the block is wrong.
        BackendError: it cannot be reached.
    """
    backend = make_backend(model)
    try:
        backend.connect()
    except BaseException:
        backend.close()
        raise
    return backend


def defaults(model: ModelSpec, inferencer_cfg: Typed) -> Settings:
    """Return the settings that a model is asked with: token limit, sampling, stops.

    Who wins: the dataset's inferencer block (the recipe's, or what the user's spec or ``--set`` put over it) beats the model block
    (`max_out_len`, `generation_kwargs`). Stops of both hold, and so does the `end` of the role that a meta_template lets generate.
    An inferencer that does not generate takes the model's.

    Raises:
        SpecError: a wrong value, or a token limit that leaves no room for a prompt in the model's context.
    """
    turn_end = Settings(max_out_len=model.max_out_len, stop=ends_of_turn(model.meta_template))
    settings = with_kwargs(turn_end, model.generation_kwargs)
    inferencer = registry.build("inferencer", inferencer_cfg, repeats=1)
    if isinstance(inferencer, GenInferencer):
        settings = inferencer.settings(settings)
    if settings.max_out_len is not None:
        checked_limit(settings.max_out_len, "max_out_len")
        if model.max_seq_len is not None and settings.max_out_len >= model.max_seq_len:
            limits = f"max_out_len {settings.max_out_len} leaves no room in max_seq_len {model.max_seq_len}"
            raise SpecError(f"{limits}; lower the first or raise the second", key=f"models.{model.abbr}")
    return settings


def infer(
    prompts: pa.Table,
    inferencer: Inferencer,
    backend: Backend,
    answers: AnswerStore,
    defaults: Settings,
    *,
    fresh: bool = False,
    on_answer: Callable[[Answer], None] | None = None,
    halted: Callable[[], str | None] = lambda: None,
) -> pa.Table:
    """Answer a shard's prompts and return the OUTPUTS table, in prompt order, repeats side by side.

    Equal requests are asked once. Answers go to the store as they come, so a killed run loses what was in flight and less than a
    second of answers. Rows without an answer have the status ``error``, with message and class.

    Args:
        prompts: a PROMPTS table.
        inferencer: makes the requests.
        backend: answers them.
        answers: the model's answers store.
        defaults: `defaults` of model and inferencer.
        fresh: take no answer that was stored before `answers` was opened.
        on_answer: called for every answer that comes from the model; not for stored ones.
        halted: the reason why nothing more may be asked, if there is one; rows that were not asked get it as their error.

    Raises:
        BackendError: nothing can be asked any more; what was answered before is stored.
    """
    requests = inferencer.requests(prompts, backend.identity, defaults)
    keys = list(dict.fromkeys(request.request_key for request in requests))
    since = answers.opened_at if fresh else None
    found = answers.get(keys, since=since)
    if len(found) < len(keys):
        with answers.lease(key for key in keys if key not in found):
            found = answers.get(keys, since=since)  # another run may have asked them meanwhile
            missing = {r.request_key: r for r in requests if r.request_key not in found}
            if missing:
                coming = _ask(list(missing.values()), inferencer, backend, answers, since, halted)
                found |= {answer.request_key: answer for answer in _told(coming, on_answer)}
    return _outputs(prompts, requests, found, inferencer, halted())


def _ask(
    requests: list[Request],
    inferencer: Inferencer,
    backend: Backend,
    answers: AnswerStore,
    since: float | None,
    halted: Callable[[], str | None],
) -> Iterator[Answer]:
    """Ask, storing each answer as it comes, until all is answered or the run is halted.

    A backend that halts by itself gives an answer to every row all the same; from another one nothing more is taken.
    """
    with answers.writer() as writer:
        coming = inferencer.ask(requests, backend, partial(answers.get, since=since), writer.add)
        with contextlib.closing(_generator(coming)) as flow:
            while halted() is None or hasattr(backend, "halt"):
                if (answer := next(flow, None)) is None:
                    break
                writer.add(answer)
                yield answer


def _generator(coming: Iterator[Answer]) -> Generator[Answer]:
    """Return answers in a form that can be closed, which gives up what was not answered."""
    yield from coming


def _told(coming: Iterator[Answer], on_answer: Callable[[Answer], None] | None) -> Iterator[Answer]:
    for answer in coming:
        if on_answer is not None and answer.attempts:  # a row that a halt kept from being asked is no news
            on_answer(answer)
        yield answer


def _outputs(
    prompts: pa.Table, requests: Iterable[Request], found: Mapping[str, Answer], inferencer: Inferencer, halted: str | None = None
) -> pa.Table:
    """Join answers to the rendered rows; a row that was rejected by rendering was never asked."""
    asked = iter(requests)
    rows: list[dict[str, Any]] = []
    for prompt in prompts.select(["sample_id", "label", "part", "status", "error"]).to_pylist():
        for repeat in range(inferencer.repeats):
            if prompt["status"] == "ok":
                request = next(asked)
                answer = _answer_to(request, found, halted)
                answer = inferencer.measured(request, answer) if answer.status == "ok" else answer
            else:
                answer = Answer("", prompt["status"], error=prompt["error"], attempts=0)
            place = {name: prompt[name] for name in ("sample_id", "label", "part")}
            rows.append({"request_key": answer.request_key or None, **place, "repeat": repeat, **_columns(answer)})
    return table_of(OUTPUTS, rows)


def _answer_to(request: Request, found: Mapping[str, Answer], halted: str | None) -> Answer:
    why = halted or "the model gave no answer"
    nothing = Answer(request.request_key, "error", attempts=0, error=why, error_class="retryable")
    return found.get(request.request_key, nothing)


def _columns(answer: Answer) -> dict[str, Any]:
    values = {name: getattr(answer, name) for name in _ANSWER_COLUMNS}
    turns = None if answer.turns is None else json.dumps(answer.turns, ensure_ascii=False)
    return {**values, "turns": turns}


def _typed(model: ModelSpec) -> Typed:
    return {"type": model.type, **model.arguments}
