"""`OpenAISDK`: any model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from inference.api import endpoint as endpoints
from inference.api.body import PATHS, Route, generate_body
from inference.api.errors import Fault, message_of
from inference.api.limits import RateLimits
from inference.api.reply import Style, answer, parse
from inference.api.retry import wait_before
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.identity import canonical_json
from leaderflow.core.reasoning import TAGS
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Capability, Json, Request, Status

DEFAULT_BASE = "https://api.openai.com/v1"
PROBE_S = 8.0
"""An endpoint that says nothing for so long counts as unreachable."""

Ask = Callable[[Request], Awaitable[Answer]]
_FINAL: Mapping[str, Status] = {"filtered": "filtered", "rejected": "rejected"}


class OpenAISDK:
    """A model behind an OpenAI-compatible endpoint.

    All models, shards and cells that ask one endpoint share its window of `batch_size` requests in flight. Every request has up to
    ``retries + 1`` attempts of `timeout` seconds each; waiting for a place in the window does not count.

    Args:
        spec: the model block.
        route: ``chat`` (/chat/completions) or ``completions`` (/completions, plain text).
        extra_body: put into every request's body as it is; part of the model's identity.
        extra_headers: sent with every request.
        reasoning: the model thinks before it answers. Stop strings are then applied by us, after the thinking, and a reply that is
            cut off without a closing tag counts as thinking.
        reasoning_tags: names of the tags around thinking.
        limit_field: name of the token limit in the body; ``max_completion_tokens`` for OpenAI's newer models.

    Raises:
        SpecError: an unknown route, a key variable that is not set.
    """

    def __init__(
        self,
        spec: ModelSpec,
        route: Route = "chat",
        extra_body: Mapping[str, Json] | None = None,
        extra_headers: Mapping[str, str] | None = None,
        reasoning: bool = False,
        reasoning_tags: Sequence[str] = TAGS,
        limit_field: str = "max_tokens",
    ) -> None:
        if route not in PATHS:
            raise SpecError(f"unknown route {route!r}; use one of {', '.join(PATHS)}", key=f"models.{spec.abbr}.arguments.route")
        self.spec, self.route, self.limit_field = spec, route, limit_field
        self.extra_body, self.style = dict(extra_body or {}), Style(reasoning, tuple(reasoning_tags))
        self.base_url = base_url(spec)
        self.capabilities = self.claims(route=route)
        self.identity = self._identity()
        self._key_name, self._key = api_key(spec)
        self._headers = {"Content-Type": "application/json", **(extra_headers or {})}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._limits = RateLimits(spec.rpm, spec.tpm)
        self._fatal: BackendError | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._endpoint: endpoints.Endpoint | None = endpoints.attach(self.base_url, spec.batch_size)
        self.described: Json = None
        """What the endpoint says of the model, once connected."""

    def connect(self) -> None:
        """Reach the endpoint and hear what it says of the model.

        Raises:
            BackendError: the endpoint cannot be reached or refuses the key.
        """
        if self._endpoint is not None:
            self.described = endpoints.call(self._probe(self._endpoint))

    @staticmethod
    def claims(route: Route = "chat", **_: Json) -> frozenset[Capability]:
        """Return what a model with these arguments can be asked for, without connecting to it."""
        return frozenset({"messages", "generate"} if route == "chat" else {"text", "generate"})

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield one answer a request, in the order of completion; see `Backend.generate`."""
        return self._stream(requests, self._generate_one)

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Not offered by this endpoint.

        Raises:
            BackendError: always.
        """
        raise BackendError(f"{self.spec.abbr}: this API gives no log-likelihoods; use the generative recipe of the dataset")

    def embed(self, texts: Sequence[str]) -> Any:
        """Not offered by this endpoint.

        Raises:
            BackendError: always.
        """
        raise BackendError(f"{self.spec.abbr}: this API gives no embeddings")

    def close(self) -> None:
        """Give the endpoint back; further calls do nothing."""
        attached, self._endpoint = self._endpoint, None
        if attached is not None:
            endpoints.detach(attached, self.spec.batch_size)

    def _stream(self, requests: Sequence[Request], ask: Ask) -> Iterator[Answer]:
        """Hand the requests to the loop and yield the answers as they come; leaving the iterator cancels what is not answered."""
        answers: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()
        job = asyncio.run_coroutine_threadsafe(self._ask_all(requests, ask, answers), endpoints.loop())
        try:
            for _ in requests:
                item = answers.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            job.cancel()

    async def _ask_all(self, requests: Sequence[Request], ask: Ask, answers: queue.SimpleQueue[Answer | BaseException]) -> None:
        async def one(request: Request) -> None:
            answers.put(await self._attempts(request, ask))

        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            async with asyncio.TaskGroup() as group:
                for request in requests:
                    group.create_task(one(request))
        except BaseExceptionGroup as exc:
            answers.put(exc.exceptions[0])
        except asyncio.CancelledError as exc:
            answers.put(self._fatal or exc)
            raise
        finally:
            self._running.discard(task)

    async def _attempts(self, request: Request, ask: Ask) -> Answer:
        """Ask until there is an answer or the attempts are used up."""
        for attempt in range(1, self.spec.retries + 2):
            try:
                done = await self._in_window(request, ask, attempt)
                return replace(done, attempts=attempt)
            except Fault as fault:
                if (given_up := self._give_up(request, fault, attempt)) is not None:
                    return given_up
                try:
                    pause = wait_before(attempt, fault)
                except Fault as impatient:
                    return self._unanswered(request, impatient, attempt)
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt always returns")

    async def _in_window(self, request: Request, ask: Ask, attempt: int) -> Answer:
        """Ask once, within the endpoint's window and rate."""
        window = self._attached().window
        epoch = await window.acquire(first=attempt > 1)
        try:
            await self._limits.wait(request)
            self._check_alive()
            start = time.perf_counter()
            done = await ask(request)
        except Fault as fault:
            if fault.overloaded:
                window.overloaded(epoch)
            raise
        finally:
            window.release()
        window.healthy()
        return replace(done, latency_s=time.perf_counter() - start)

    def _give_up(self, request: Request, fault: Fault, attempt: int) -> Answer | None:
        """Return the row's last word on a fault, None to ask again; what concerns every row ends the run."""
        if fault.kind == "run":
            raise self._stop(fault)
        if fault.kind in _FINAL:
            return Answer(request.request_key, _FINAL[fault.kind], attempts=attempt, error=self._hide_key(fault.message))
        if fault.kind == "sample" or attempt > self.spec.retries:
            return self._unanswered(request, fault, attempt)
        return None

    def _stop(self, fault: Fault) -> BackendError:
        """End everything that this model is being asked, in whatever thread."""
        if self._fatal is None:
            self._fatal = BackendError(self._run_message(fault))
            for task in self._running - {asyncio.current_task()}:
                task.cancel()
        return self._fatal

    def _unanswered(self, request: Request, fault: Fault, attempt: int) -> Answer:
        kind = "sample" if fault.kind == "sample" else "retryable"
        return Answer(request.request_key, "error", attempts=attempt, error=self._hide_key(fault.message), error_class=kind)

    async def _generate_one(self, request: Request) -> Answer:
        settings = replace(request.settings, stop=()) if self.style.thinks else request.settings
        body = generate_body(self.spec.path, self.route, request.prompt, settings, self.limit_field, self.extra_body)
        return answer(request, parse(await self._post(PATHS[self.route], body)), self.style)

    async def _post(self, path: str, body: bytes) -> bytes:
        return await self._attached().post(path, body, self._headers, self.spec.timeout)

    async def _probe(self, endpoint: endpoints.Endpoint) -> Json:
        """See that the endpoint can be reached, and return what it says of the model, if anything."""
        try:
            status, body = await endpoint.get("models", self._headers, PROBE_S)
        except TimeoutError:
            raise BackendError(
                f"{self.spec.abbr}: {self.base_url} did not answer within {PROBE_S:g} s; is the server up?"
            ) from None
        except OSError as exc:
            raise BackendError(f"{self.spec.abbr}: {self.base_url} cannot be reached ({exc}); check openai_api_base") from None
        if status == 401:
            raise BackendError(self._run_message(Fault("run", f"HTTP 401: {message_of(body)}")))
        return _described(body, self.spec.path)

    def _run_message(self, fault: Fault) -> str:
        source = f"the key in {self._key_name}" if self._key_name else "a key (set `key: ENV` or `key_env: NAME`)"
        refused = any(f"HTTP {code}" in fault.message for code in (401, 403))
        advice = f"; check {source}" if refused else f"; check `path` ({self.spec.path}) and openai_api_base ({self.base_url})"
        return self._hide_key(f"{self.spec.abbr}: {fault.message}{advice}")

    def _hide_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _check_alive(self) -> None:
        if self._fatal is not None:
            raise self._fatal

    def _attached(self) -> endpoints.Endpoint:
        if self._endpoint is None:
            raise BackendError(f"{self.spec.abbr}: the model is closed")
        return self._endpoint

    def _identity(self) -> str:
        place = (
            {"revision": self.spec.revision} if self.spec.revision else {"host": urlsplit(self.base_url).netloc.rpartition("@")[2]}
        )
        changed: dict[str, Json] = {"route": self.route} if self.route != "chat" else {}
        if self.extra_body:
            changed["extra_body"] = self.extra_body
        if self.style.thinks:
            changed["reasoning"] = True
        if tuple(self.style.tags) != TAGS:
            changed["reasoning_tags"] = list(self.style.tags)
        return canonical_json({"api": self.spec.path, **place, **changed})


def base_url(spec: ModelSpec) -> str:
    """Return the endpoint's base address; a route at its end is taken off.

    Raises:
        SpecError: it is no http(s) address.
    """
    url = (spec.openai_api_base or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE).rstrip("/")
    for path in PATHS.values():
        url = url.removesuffix(f"/{path}")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise SpecError(f"{url!r} is no address such as http://localhost:8000/v1", key=f"models.{spec.abbr}.openai_api_base")
    return url


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


def _described(body: bytes, model: str) -> Json:
    try:
        entries = json.loads(body).get("data") or []
        return next((entry for entry in entries if entry.get("id") == model), None)
    except (ValueError, AttributeError):
        return None
