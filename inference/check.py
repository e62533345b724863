"""Tries a model out: one request of each kind that it claims, and a clear word on what is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from inference.api.backend import OpenAISDK
from inference.api.logprobs import Form
from inference.stage import defaults, make_backend
from leaderflow.core.errors import BackendError, did_you_mean
from leaderflow.core.identity import sha256_hex
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Backend, Json, Prompt, Request, Settings

QUESTION = "Answer with one word: what is the capital of France?"
TEXT = "The capital of France is"
CONTINUATION = " Paris"

LIMIT = 32
"""Tokens of the answer: enough to measure, too few to cost anything."""

PATIENCE_S = 60.0

FORMS: tuple[Form, ...] = ("prompt_logprobs", "echo")

_KINDS = {
    "chat": "a chat model",
    "completions": "a base model: it continues text and takes no messages",
    "responses": "a model of the Responses API",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried: good, bad, or (None) neither."""

    what: str
    good: bool | None
    said: str


@dataclass
class Verdict:
    """What a check found: the findings in order, and the model block as it should be written."""

    block: dict[str, Json]
    findings: list[Finding] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether the model can be asked."""
        return not any(finding.good is False for finding in self.findings)

    def note(self, what: str, good: bool | None, said: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(what, good, said))


def check(model: ModelSpec) -> Verdict:
    """Try a model out; nothing is stored.

    Raises:
        SpecError: the block itself is wrong.
    """
    verdict = Verdict(model.model_dump(mode="json", exclude_defaults=True))
    if model.type == "OpenAISDK":
        model = _find_endpoint(model, verdict)
        verdict.block = model.model_dump(mode="json", exclude_defaults=True)
    if verdict.good:
        _try_all(model, verdict)
    return verdict


def _try_all(model: ModelSpec, verdict: Verdict) -> None:
    backend: Backend | None = None
    try:
        backend = make_backend(model)
        started = time.monotonic()
        backend.connect()
        verdict.note("connect", True, f"{time.monotonic() - started:.1f} s")
        _try_generation(model, backend, verdict)
        _try_likelihood(model, backend, verdict)
        _tell_template(backend, verdict)
        _tell_context(model, backend, verdict)
    except BackendError as error:
        verdict.note("connect", False, str(error))
    finally:
        if backend is not None:
            backend.close()


def _try_generation(model: ModelSpec, backend: Backend, verdict: Verdict) -> None:
    if "generate" not in backend.capabilities:
        verdict.note("generate", None, "this model generates nothing")
        return
    started = time.monotonic()
    first = _ask(model, backend, "first")
    loaded = time.monotonic() - started
    again = _ask(model, backend, "again")
    if first.status in ("error", "rejected", "filtered"):
        verdict.note("generate", False, f"{first.status}: {first.error}")
        return
    seconds, tokens = again.latency_s or 0.0, again.output_tokens
    speed = f", {tokens / seconds:.0f} tokens/s" if tokens and seconds else ""
    late = f" (the first took {loaded:.1f} s)" if loaded > 2 * seconds + 1 else ""
    verdict.note("generate", True, f"{(first.output or '').strip()[:80]!r}; round trip {seconds:.2f} s{speed}{late}")
    if first.reasoning:
        verdict.note("reasoning", True, "the model thinks; its thinking is kept apart")
        if "reasoning" not in verdict.block.get("arguments", {}):
            verdict.block.setdefault("arguments", {})["reasoning"] = True
    if not (first.output or "").strip():
        verdict.note("answer", None, f"empty within {LIMIT} tokens; a model that thinks needs a higher max_out_len")


def _try_likelihood(model: ModelSpec, backend: Backend, verdict: Verdict) -> None:
    if "loglikelihood" in backend.capabilities:
        _note_likelihood(backend, verdict)
    elif isinstance(backend, OpenAISDK) and (form := _offered_form(model)):
        how = f"offered by the completions route: write `arguments: {{route: completions, logprobs: {form}}}` for PPL recipes"
        verdict.note("log-likelihood", None, how)
    else:
        verdict.note("log-likelihood", None, "not offered; use generative recipes")


def _note_likelihood(backend: Backend, verdict: Verdict) -> None:
    text = "text" in backend.capabilities
    prompt = Prompt(text=TEXT, continuation=CONTINUATION) if text else Prompt(messages=_messages(), continuation=CONTINUATION)
    answer = next(iter(backend.loglikelihood([Request(sha256_hex("likelihood"), prompt, Settings())])))
    if answer.nll is None:
        verdict.note("log-likelihood", False, f"{answer.status}: {answer.error}")
    else:
        verdict.note(
            "log-likelihood", True, f"log p({CONTINUATION!r} | {TEXT!r}) = {-answer.nll:.2f}, {answer.scored_tokens} tokens"
        )


def _offered_form(model: ModelSpec) -> Form | None:
    """Return the form in which the completions route gives log-likelihoods, if it does."""
    for form in FORMS:
        arguments = {**model.arguments, "route": "completions", "logprobs": form}
        backend = make_backend(model.model_copy(update={"arguments": arguments, "retries": 0, "timeout": PATIENCE_S}))
        try:
            request = Request(sha256_hex(form), Prompt(text=TEXT, continuation=CONTINUATION), Settings())
            if next(iter(backend.loglikelihood([request]))).nll is not None:
                return form
        except BackendError:
            return None
        finally:
            backend.close()
    return None


def _tell_template(backend: Backend, verdict: Verdict) -> None:
    if "messages" not in backend.capabilities:
        verdict.note("chat template", None, "none: prompts are plain text")
    elif (counter := getattr(backend, "counter", None)) is None:
        verdict.note("chat template", True, "applied by the server")
    else:
        system = "has" if counter.knows_system() else "has no"
        verdict.note("chat template", True, f"the tokenizer's; it {system} system role")


def _tell_context(model: ModelSpec, backend: Backend, verdict: Verdict) -> None:
    described = getattr(backend, "described", None) or {}
    known = described.get("max_model_len") or described.get("context_length") or getattr(backend, "max_seq_len", None)
    if known:
        verdict.note("context", True, f"{known} tokens")
        verdict.block.setdefault("max_seq_len", known)
    elif model.max_seq_len:
        verdict.note("context", None, f"{model.max_seq_len} tokens, as the block says")
    else:
        verdict.note(
            "context", None, "unknown; write max_seq_len, so that prompts that do not fit lose examples instead of failing"
        )


def _find_endpoint(model: ModelSpec, verdict: Verdict) -> ModelSpec:
    """Return the block with the address and the route that work; notes what is wrong where none does."""
    failures: list[str] = []
    for candidate in _candidates(model):
        try:
            answer = _first_answer(candidate)
        except BackendError as error:
            failures.append(str(error))
            if any(f"HTTP {code}" in failures[-1] for code in (401, 403)):
                break
            continue
        if answer.status != "error":
            _note_change(model, candidate, verdict)
            return candidate.model_copy(update={"retries": model.retries, "timeout": model.timeout})
        failures.append(answer.error or "no answer")
    verdict.note("endpoint", False, _why(model, failures[0]))
    return model


def _candidates(model: ModelSpec) -> Iterator[ModelSpec]:
    """Yield the block as it is, then with the other routes, then all at the address with or without ``/v1``."""
    written = OpenAISDK(model.model_copy(update={"key": None, "key_env": None})).base_url
    other = written.removesuffix("/v1") if written.endswith("/v1") else f"{written}/v1"
    routes = [model.arguments.get("route", "chat"), "chat", "completions", "responses"]
    quick: dict[str, Any] = {"retries": 0, "timeout": min(model.timeout, PATIENCE_S)}
    for address in (written, other):
        for route in dict.fromkeys(routes):
            kept = _without(model.arguments, "route", *([] if route == "completions" else ["logprobs"]))
            arguments = {**kept, "route": route} if route != "chat" else kept
            yield model.model_copy(update={"openai_api_base": address, "arguments": arguments, **quick})


def _without(arguments: dict[str, Json], *names: str) -> dict[str, Json]:
    return {name: value for name, value in arguments.items() if name not in names}


def _first_answer(model: ModelSpec) -> Answer:
    backend = make_backend(model)
    try:
        backend.connect()
        return _ask(model, backend, "probe")
    finally:
        backend.close()


def _note_change(model: ModelSpec, works: ModelSpec, verdict: Verdict) -> None:
    written = (model.openai_api_base or "").rstrip("/")
    if model.openai_api_base is not None and works.openai_api_base != written:
        verdict.note("address", None, f"{written} is wrong, {works.openai_api_base} works: write openai_api_base so")
    route = works.arguments.get("route", "chat")
    if route != model.arguments.get("route", "chat"):
        kind = _KINDS[route]
        verdict.note("route", None, f"this is {kind}; write `arguments: {{route: {route}}}`")


def _why(model: ModelSpec, failure: str) -> str:
    """Say what is wrong, the first failure being that of the block as it is written."""
    if any(f"HTTP {code}" in failure for code in (401, 403)):
        return f"the key is refused: {failure}"
    served = _served(model)
    if served and model.path not in served:
        return f"the endpoint serves no {model.path!r}{did_you_mean(model.path, served)} (it serves: {', '.join(served[:8])})"
    if "web page" in failure:
        return f"wrong address, or a login before it: {failure}; the address of an OpenAI API mostly ends with /v1"
    if "HTTP 404" in failure and not served:
        host = urlsplit(model.openai_api_base or "").netloc
        return f"wrong address: {host} answers, but not as an OpenAI API, neither with nor without /v1: {failure}"
    return failure


def _served(model: ModelSpec) -> list[str]:
    """Return the names that the endpoint lists, with or without ``/v1``."""
    for candidate in {block.openai_api_base: block for block in _candidates(model)}.values():
        backend = make_backend(candidate)
        assert isinstance(backend, OpenAISDK)
        try:
            if names := backend.served():
                return names
        except BackendError:
            return []
        finally:
            backend.close()
    return []


def _ask(model: ModelSpec, backend: Backend, salt: str) -> Answer:
    """Ask the question with the block's own settings: a model may refuse one, and may refuse what the block does not say."""
    settings = replace(defaults(model, {"type": "GenInferencer"}), max_out_len=LIMIT)
    request = Request(sha256_hex(f"check {salt} {time.time()}"), _question(backend), settings)
    return next(iter(backend.generate([request])))


def _question(backend: Backend) -> Prompt:
    return Prompt(messages=_messages()) if "messages" in backend.capabilities else Prompt(text=TEXT)


def _messages() -> Any:
    return ({"role": "user", "content": QUESTION},)


def as_yaml(block: dict[str, Json]) -> str:
    """Return a model block to paste, one line a field."""
    return "\n".join(
        f"{name}: {value if _plain(value) else json.dumps(value, ensure_ascii=False)}" for name, value in block.items()
    )


def _plain(value: Json) -> bool:
    return isinstance(value, str) and value.isascii() and value.replace("-", "").replace("/", "").replace(".", "").isalnum()
