"""The model types `HuggingFaceBaseModel` (text) and `HuggingFacewithChatTemplate` (messages)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from inference.api.reply import Reply, Style, answer
from inference.ends import end_tokens
from inference.huggingface.engine import Done, Engine, Work
from inference.huggingface.extra import require
from inference.huggingface.fingerprint import files_digest, model_identity
from inference.huggingface.generation import Generation, check_settings, generation_config
from inference.huggingface.likelihood import Scored
from inference.huggingface.tokens import PromptError, Tokens, load_tokens
from inference.huggingface.weights import is_causal, load_model, locate, locate_adapter, room
from inference.huggingface.works import Embed, Generate, Likelihood, Limits
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.identity import canonical_json, settings_json, sha256_hex
from leaderflow.core.reasoning import TAGS
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Capability, Json, Request

Dtype = Literal["auto", "float32", "bfloat16", "float16"]

DEFAULT_OUT_LEN = 512
"""Generated tokens where neither recipe nor model block sets a limit."""

_SCORING_SHARE = 4
"""Scoring keeps the logits of every token, generation of one a row: its batches get this part of the token budget."""


class HuggingFaceBaseModel:
    """A base model from local weights: continues and scores text. An encoder's weights can be used for `embed` only.

    The weights are loaded at the first request: a run whose answers are all stored never loads them.

    Args:
        spec: the model block; `path` is a folder, a name from `leaderflow models get`, or a hub id; `batch_size` counts rows (for
            log-likelihoods: groups of rows that share a prefix); the `eos_token_id` of a meta_template ends an answer too.
        dtype: what is computed in; by default float32 on a CPU, because half precision can turn a close choice, and on a GPU what
            the weights are stored in.
        device_map: Transformers' device map.
        token_budget: padded tokens in a batch, generated ones included; halved when memory runs out.
        share_prefix: compute what rows to be scored have in common once.
        gguf_file: the weights' GGUF file in the folder.
        peft_path: folder of a PEFT adapter.
        reasoning: the model thinks before it answers: stop strings count only after the thinking, and a reply that is cut off
            without a closing tag is thinking.
        reasoning_tags: names of the tags around thinking.

    Raises:
        BackendError: no such model, or the extra ``hf`` is missing.
        SpecError: an argument that cannot be.
    """

    capabilities: frozenset[Capability] = frozenset({"text", "generate", "loglikelihood", "embed"})
    _chat: ClassVar[bool] = False

    def __init__(
        self,
        spec: ModelSpec,
        *,
        dtype: Dtype | None = None,
        device_map: str | dict[str, Any] | None = None,
        token_budget: int = 16384,
        share_prefix: bool = True,
        gguf_file: str | None = None,
        peft_path: str | None = None,
        reasoning: bool = False,
        reasoning_tags: Sequence[str] = TAGS,
    ) -> None:
        require("torch", "transformers")
        _check(dtype, token_budget)
        self._folder = locate(spec.path, spec.revision)
        if not is_causal(self._folder):
            self.capabilities = frozenset({"text", "embed"})
        self._spec, self._budget, self._share = spec, token_budget, share_prefix
        self._dtype = dtype or ("auto" if _has_gpu() else "float32")
        self._device_map, self._gguf_file, self._peft_path = device_map, gguf_file, peft_path
        extra: dict[str, Json] = {"peft": files_digest(locate_adapter(peft_path))} if peft_path else {}
        extra |= {"max_seq_len": spec.max_seq_len} if spec.max_seq_len else {}  # it decides what is cut off or rejected
        self._ends = end_tokens(spec.meta_template)
        extra |= {"eos_token_id": self._ends} if self._ends else {}
        self._style = Style(reasoning, tuple(reasoning_tags))
        extra |= {"reasoning": [reasoning, *self._style.tags]} if self._style != Style() else {}
        files = files_digest(self._folder, gguf_file or "")
        self.identity = model_identity(files, dtype=self._dtype, chat=self._chat, extra=extra)
        self.max_seq_len = room(spec, self._folder)
        self._engine = Engine(self._load)

    @classmethod
    def claims(cls, **arguments: Any) -> frozenset[Capability]:
        """Return what the type can be asked for and which inputs it takes, without looking at any weights."""
        return cls.capabilities

    @cached_property
    def counter(self) -> Tokens:
        """The tokenizer; counts a prompt's tokens as the model will see them."""
        return load_tokens(self._folder, chat=self._chat, gguf_file=self._gguf_file)

    def connect(self) -> None:
        """See that the tokenizer and, for a chat model, its template can be used; the weights wait for the first request.

        Raises:
            BackendError: they cannot.
        """
        self.counter.tokenizer  # noqa: B018 - loads it

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield one answer a request, in the order of completion; greedy unless a temperature is set.

        A prompt that leaves no room for an answer, or that the chat template refuses, is ``rejected``; an answer that meets its
        token limit is ``truncated``.

        Raises:
            BackendError: the model cannot be loaded.
            SpecError: settings that Transformers does not know.
        """
        self._need("generate")
        for settings in {canonical_json(settings_json(r.settings)): r.settings for r in requests}.values():
            check_settings(settings)
        yield from self._answer("generate", requests, self._generation)

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield answers with `nll` (nats), `scored_tokens` and `token_logprobs` of the continuation, else of the whole text.

        Raises:
            BackendError: the model cannot be loaded.
        """
        self._need("loglikelihood")
        yield from self._answer("loglikelihood", requests, self._scored)

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array (len(texts) × dimension): mean of the last hidden states, rows L2-normalised; long texts are cut.

        Raises:
            BackendError: the model cannot be loaded or a text does not fit into memory.
        """
        rows = [("", self.counter.encode_text(text)[: self.max_seq_len], at) for at, text in enumerate(texts)]
        found: list[Any] = [None] * len(texts)
        for done in self._engine.run("embed", rows):
            if done.error:
                raise BackendError(f"cannot embed text {done.tag}: {done.error}")
            found[done.tag] = done.result
        return np.stack(found) if found else np.zeros((0, 0), np.float32)

    def close(self) -> None:
        """End the engine thread and free the model."""
        self._engine.close()

    def _need(self, capability: Capability) -> None:
        if capability not in self.capabilities:
            raise BackendError(f"{self._spec.abbr} cannot be asked for {capability}: {self._spec.path} is an encoder")

    def _answer(
        self, kind: str, requests: Sequence[Request], prepare: Callable[[Request], tuple[str, Generation | Scored]]
    ) -> Iterator[Answer]:
        """Yield the rejected rows at once, then the others as the engine finishes them."""
        rows = []
        for request in requests:
            try:
                lane, row = prepare(request)
            except PromptError as exc:
                yield Answer(request.request_key, "rejected", error=str(exc), error_class="sample")
            else:
                rows.append((lane, row, (request, row)))
        for done in self._engine.run(kind, rows):
            yield _failed(done) if done.error else _READ[kind](done)

    def _generation(self, request: Request) -> tuple[str, Generation]:
        ids = self.counter.encode(request.prompt)
        if not ids:
            raise PromptError("the prompt is empty")
        wanted = request.settings.max_out_len or DEFAULT_OUT_LEN
        room = wanted if self.max_seq_len is None else self.max_seq_len - len(ids)
        if room < 1:
            raise PromptError(f"the prompt has {len(ids)} tokens, the context {self.max_seq_len}: no room for an answer")
        limit = min(wanted, room)
        row = Generation(tuple(ids), _seed(request.request_key), request.settings, self._style, limit)
        return canonical_json([settings_json(request.settings), limit]), row

    def _scored(self, request: Request) -> tuple[str, Scored]:
        ids, start = self.counter.encode_scored(request.prompt)
        if self.max_seq_len is not None and len(ids) > self.max_seq_len:
            raise PromptError(f"the text has {len(ids)} tokens, the context {self.max_seq_len}")
        return "", Scored(tuple(ids), start)

    def _load(self) -> Mapping[str, Work]:
        model = load_model(self._folder, self._dtype, self._device_map, gguf_file=self._gguf_file, peft_path=self._peft_path)
        pad = self.counter.tokenizer.pad_token_id or 0
        limits = Limits(self._spec.batch_size, self._budget)
        scoring = Limits(self._spec.batch_size, max(1, self._budget // _SCORING_SHARE))
        embed = Embed(getattr(model, "base_model", model), pad, Limits(self._spec.batch_size, self._budget))
        if "generate" not in self.capabilities:
            return {"embed": embed}
        eos = _end_ids(model, self.counter, self._ends)
        scorer = Likelihood(model, pad, scoring, share=self._share)
        return {"generate": Generate(model, self.counter, eos, limits), "loglikelihood": scorer, "embed": embed}


class HuggingFacewithChatTemplate(HuggingFaceBaseModel):
    """A chat model from local weights: messages go through the tokenizer's chat template; text goes in as it is.

    A template without a system role gets the system message before the first user turn.
    """

    capabilities: frozenset[Capability] = HuggingFaceBaseModel.capabilities | {"messages"}
    _chat: ClassVar[bool] = True


def _check(dtype: str | None, token_budget: int) -> None:
    if dtype is not None and dtype not in get_args(Dtype):
        raise SpecError(f"unknown dtype {dtype!r}; one of {', '.join(get_args(Dtype))}", key="arguments.dtype")
    if token_budget < 1:
        raise SpecError(f"token_budget must be at least 1, got {token_budget}", key="arguments.token_budget")


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _end_ids(model: Any, tokens: Tokens, more: Sequence[int]) -> list[int]:
    """Return every id that ends a turn, and strip the model of its own sampling defaults: settings come from the request alone."""
    own = model.generation_config.eos_token_id
    listed = own if isinstance(own, list) else [own]
    model.generation_config = generation_config()
    return sorted({int(i) for i in [*listed, tokens.tokenizer.eos_token_id, *more] if i is not None})


def _seed(request_key: str) -> int:
    """Return the seed of a row's sampling. The key holds everything that was asked for, the user's seed and the repeat included."""
    return int(sha256_hex(request_key)[:15], 16)


def _failed(done: Done) -> Answer:
    return Answer(done.tag[0].request_key, "error", error=done.error, error_class="sample", latency_s=done.seconds)


def _read_generation(done: Done) -> Answer:
    request, row = done.tag
    reason = "stop" if done.result.ended else "length"
    found = answer(request, Reply(done.result.text, None, reason, len(row.ids), done.result.tokens), row.style)
    return replace(found, finish_reason="stop" if found.status == "ok" else reason, latency_s=done.seconds)


def _read_likelihood(done: Done) -> Answer:
    request, row = done.tag
    logprobs = tuple(done.result)
    return Answer(
        request.request_key,
        "ok",
        nll=-sum(logprobs),
        scored_tokens=len(logprobs),
        token_logprobs=logprobs,
        prompt_tokens=len(row.ids),
        output_tokens=0,
        latency_s=done.seconds,
    )


_READ: Mapping[str, Callable[[Done], Answer]] = {"generate": _read_generation, "loglikelihood": _read_likelihood}
