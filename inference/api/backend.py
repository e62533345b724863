"""`OpenAISDK`: any model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, get_args
from urllib.parse import urlsplit

from inference.api.body import PATHS, Route, generate_body, score_body
from inference.api.client import Client
from inference.api.errors import Fault, message_of, owner_at_fault
from inference.api.logprobs import Form, likelihood
from inference.api.reply import Style, answer, parse
from inference.api.responses import parse_response
from inference.ends import end_tokens
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.identity import canonical_json
from leaderflow.core.reasoning import TAGS
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Capability, Json, Request, TokenCounter

DEFAULT_BASE = "https://api.openai.com/v1"

SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key"})

NEWER_LIMIT = "max_completion_tokens"
"""What OpenAI's newer models want the token limit to be called; they say so when asked with ``max_tokens``."""

PROBE_S = 8.0
"""An endpoint that says nothing for so long counts as unreachable."""


class OpenAISDK:
    """A model behind an OpenAI-compatible endpoint.

    All shards and cells that ask the model share its window of `batch_size` requests in flight, and all models of one endpoint the
    endpoint's, which is the largest of theirs and gives way when the server is overloaded. Every request has up to
    ``retries + 1`` attempts of `timeout` seconds each; waiting for a place in the window does not count. An endpoint that is away
    is waited for, up to `timeout` seconds.

    Args:
        spec: the model block; the `eos_token_id` of a meta_template is sent as `stop_token_ids` on the completions route.
        route: ``chat`` (/chat/completions), ``responses`` (/responses) or ``completions`` (/completions, plain text).
        logprobs: how the completions route gives the log-likelihood of a text: ``echo`` (`echo` and `logprobs`, OpenAI's form) or
            ``prompt_logprobs`` (vLLM's); without it the model gives none.
        extra_body: put into every request's body as it is; part of the model's identity.
        extra_headers: sent with every request; a key must not stand here.
        key_header: the header that carries the key, where it is not ``Authorization: Bearer KEY``, such as ``api-key``.
        reasoning: the model thinks before it answers. Stop strings are then applied by us, after the thinking, and a reply that is
            cut off without a closing tag counts as thinking.
        reasoning_tags: names of the tags around thinking.
        limit_field: name of the token limit in the body; a server that asks for ``max_completion_tokens`` gets it unasked.

    Raises:
        SpecError: an unknown route or form, a key variable that is not set.
    """

    def __init__(
        self,
        spec: ModelSpec,
        route: Route = "chat",
        logprobs: Form | None = None,
        extra_body: Mapping[str, Json] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        key_header: str | None = None,
        reasoning: bool = False,
        reasoning_tags: Sequence[str] = TAGS,
        limit_field: str = "max_tokens",
    ) -> None:
        _check_routes(spec, route, logprobs)
        _check_headers(spec, extra_headers or {})
        self.spec, self.route, self.logprobs, self.limit_field = spec, route, logprobs, limit_field
        self.extra_body, self.style = {**_stop_ids(spec, route), **(extra_body or {})}, Style(reasoning, tuple(reasoning_tags))
        self.base_url = base_url(spec)
        self.capabilities = self.claims(route=route, logprobs=logprobs)
        self.identity = self._identity()
        self._key_name, self._key = api_key(spec)
        headers = {"Content-Type": "application/json", **(extra_headers or {})}
        if self._key:
            headers |= {key_header: self._key} if key_header else {"Authorization": f"Bearer {self._key}"}
        self._client = Client(spec, self.base_url, headers, self._explain, self._hide_key)
        self.described: Json = None
        """What the endpoint says of the model, once connected."""

    @cached_property
    def counter(self) -> TokenCounter | None:
        """Counts by the block's `tokenizer`, where it names one.

        Raises:
            BackendError: there is no such tokenizer, or the extra ``hf`` is missing.
        """
        if self.spec.tokenizer is None:
            return None
        from inference.huggingface.tokens import token_counter  # a model without a tokenizer needs none of it

        return token_counter(self.spec)

    def connect(self) -> None:
        """Reach the endpoint and hear what it says of the model.

        Raises:
            BackendError: the endpoint cannot be reached or refuses the key.
        """
        self.described = self._probe()

    @staticmethod
    def claims(route: Route = "chat", logprobs: Form | None = None, **_: Json) -> frozenset[Capability]:
        """Return what a model with these arguments can be asked for, without connecting to it."""
        scored: set[Capability] = {"loglikelihood"} if logprobs else set()
        called: set[Capability] = {"tools"} if route == "chat" else set()
        return frozenset({"generate", "text" if route == "completions" else "messages", *called, *scored})

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield one answer a request, in the order of completion; see `Backend.generate`."""
        return self._client.stream(requests, self._generate_one)

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield answers with the log-likelihood of each continuation, or of the whole text; see `Backend.loglikelihood`.

        Raises:
            BackendError: the model block names no `logprobs`.
        """
        if self.logprobs is None:
            raise BackendError(f"{self.spec.abbr}: this API gives no log-likelihoods; use the generative recipe of the dataset")
        return self._client.stream(requests, self._score_one)

    def embed(self, texts: Sequence[str]) -> Any:
        """Not offered by this endpoint.

        Raises:
            BackendError: always.
        """
        raise BackendError(f"{self.spec.abbr}: this API gives no embeddings")

    def meter(self, heard: Callable[[Answer], None]) -> None:
        """Tell of each answer, each turn of a dialogue included, before its place in the window is free again."""
        self._client.meter = heard

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return self._client.in_flight

    def halt(self, reason: str) -> None:
        """Send no new request: what is in flight finishes, the other rows become ``error`` with the reason."""
        self._client.halt(reason)

    def close(self) -> None:
        """Give the endpoint back; further calls do nothing."""
        self._client.close()

    async def _generate_one(self, request: Request) -> Answer:
        settings = replace(request.settings, stop=()) if self.style.thinks else request.settings
        body = generate_body(self.spec.path, self.route, request.prompt, settings, self.limit_field, self.extra_body)
        try:
            reply = parse_response if self.route == "responses" else parse
            return answer(request, reply(await self._client.post(PATHS[self.route], body)), self.style)
        except Fault as fault:
            if fault.kind != "sample" or self.limit_field == NEWER_LIMIT or NEWER_LIMIT not in fault.message:
                raise
            self.limit_field = NEWER_LIMIT  # how the limit is spelt changes no answer
            return await self._generate_one(request)

    async def _score_one(self, request: Request) -> Answer:
        assert self.logprobs is not None
        body = score_body(self.spec.path, request.prompt, self.logprobs, self.extra_body)
        return likelihood(request, await self._client.post(PATHS["completions"], body), self.logprobs)

    def _probe(self) -> Json:
        """See that the endpoint can be reached, and return what it says of the model, if anything."""
        try:
            status, body = self._client.get("models", PROBE_S)
        except TimeoutError:
            raise BackendError(
                f"{self.spec.abbr}: {self.base_url} did not answer within {PROBE_S:g} s; is the server up?"
            ) from None
        except OSError as exc:
            raise BackendError(f"{self.spec.abbr}: {self.base_url} cannot be reached ({exc}); check openai_api_base") from None
        if status == 401:
            raise BackendError(self._explain(Fault("run", f"HTTP 401: {message_of(body)}")))
        return _described(body, self.spec.path)

    def served(self) -> list[str]:
        """Return the names of the models that the endpoint lists; none if it has no such list.

        Raises:
            BackendError: it cannot be reached.
        """
        try:
            _, body = self._client.get("models", PROBE_S)
            return [str(entry["id"]) for entry in json.loads(body)["data"]]
        except OSError as exc:
            raise BackendError(f"{self.spec.abbr}: {self.base_url} cannot be reached ({exc})") from None
        except (ValueError, KeyError, TypeError):
            return []

    def _explain(self, fault: Fault) -> str:
        source = f"check the key in {self._key_name}" if self._key_name else "give a key by `key: ENV` or `key_env: NAME`"
        paid = "the account must be paid up; the same command then asks what is missing"
        place = f"check `path` ({self.spec.path}) and openai_api_base ({self.base_url})"
        if fault.message.startswith(("HTTP 400", "HTTP 422")):
            place = "check generation_kwargs, extra_body and the inferencer's settings (a null takes one back)"
        advice = {"key": source, "money": paid, None: place}[owner_at_fault(fault)]
        return self._hide_key(f"{self.spec.abbr}: {fault.message}; {advice}")

    def _hide_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _identity(self) -> str:
        place = (
            {"revision": self.spec.revision} if self.spec.revision else {"host": urlsplit(self.base_url).netloc.rpartition("@")[2]}
        )
        changed: dict[str, Json] = {
            "route": self.route if self.route != "chat" else None,
            "logprobs": self.logprobs,
            "extra_body": self.extra_body,
            "reasoning": self.style.thinks,
            "reasoning_tags": list(self.style.tags) if tuple(self.style.tags) != TAGS else None,
        }
        return canonical_json({"api": self.spec.path, **place, **{name: value for name, value in changed.items() if value}})


def base_url(spec: ModelSpec) -> str:
    """Return the endpoint's base address; a route at its end is taken off.

    Raises:
        SpecError: it is no http(s) address.
    """
    url = (spec.openai_api_base or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE).rstrip("/")
    for path in PATHS.values():
        url = url.removesuffix(f"/{path}")
    if not _is_address(url):
        raise SpecError(f"{url!r} is no address such as http://localhost:8000/v1", key=f"models.{spec.abbr}.openai_api_base")
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half of an IPv6 address, a port that is no number or too large
        return False


def api_key(spec: ModelSpec) -> tuple[str | None, str | None]:
    """Return (name of the variable, key); (None, None) where the block names none.

    Raises:
        SpecError: the variable is not set.
    """
    name = spec.key_env or ("OPENAI_API_KEY" if spec.key == "ENV" else None)
    if name is None:
        return None, None
    if not (value := os.environ.get(name, "").strip()):
        raise SpecError(
            f"the environment variable {name} is not set", key=f"models.{spec.abbr}.{'key_env' if spec.key_env else 'key'}"
        )
    return name, value


def _check_routes(spec: ModelSpec, route: Route, logprobs: Form | None) -> None:
    where = f"models.{spec.abbr}.arguments"
    if route not in PATHS:
        raise SpecError(f"unknown route {route!r}; use one of {', '.join(PATHS)}", key=f"{where}.route")
    if logprobs is not None and logprobs not in get_args(Form):
        raise SpecError(f"unknown form {logprobs!r}; use one of {', '.join(get_args(Form))}", key=f"{where}.logprobs")
    if logprobs is not None and route != "completions":
        raise SpecError("log-likelihoods need plain text; add `route: completions`", key=f"{where}.logprobs")


def _check_headers(spec: ModelSpec, headers: Mapping[str, str]) -> None:
    if secret := [name for name in headers if name.lower() in SECRET_HEADERS]:
        advice = "a key must not stand in a spec; write `key_env: NAME`, and `key_header` if it is not sent as a bearer token"
        raise SpecError(advice, key=f"models.{spec.abbr}.arguments.extra_headers.{secret[0]}")


def _stop_ids(spec: ModelSpec, route: Route) -> dict[str, Json]:
    """Return the end tokens of a meta_template in the form of vLLM and SGLang, whose completions take ids."""
    found = end_tokens(spec.meta_template) if route == "completions" else []
    return {"stop_token_ids": found} if found else {}


def _described(body: bytes, model: str) -> Json:
    try:
        entries = json.loads(body).get("data") or []
        return next((entry for entry in entries if entry.get("id") == model), None)
    except (ValueError, AttributeError):
        return None
