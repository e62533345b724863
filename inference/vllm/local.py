"""One model on vLLM processes of our own, from the first request to the last."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from inference.huggingface.tokens import Tokens
from inference.vllm.client import ServedTokens
from inference.vllm.fleet import Fleet, Make
from inference.vllm.process import Launch, Member
from leaderflow.core.errors import BackendError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Request

log = logging.getLogger("leaderflow.vllm")


class LocalVLLM:
    """Weights on this machine, under vLLM processes that leaderflow starts with the first request and ends at the end.

    One that dies ends the requests in flight with a `BackendError` that may be tried again; the next request starts the processes
    anew.

    Args:
        spec: the model block, its `path` the served name.
        launch: how the processes are started.
        make: starts one of them.
        tokens: the tokenizer.
        context: the context's length in tokens, where it is known.
        restarts: how often processes that died are started again.
        arguments: of `OpenAISDK`.
    """

    def __init__(
        self,
        spec: ModelSpec,
        launch: Launch,
        make: Make,
        tokens: Tokens,
        context: int | None,
        restarts: int,
        arguments: Mapping[str, Any],
    ) -> None:
        self.counter = tokens
        self._spec, self._launch, self._make, self._context = spec, launch, make, context
        self._restarts, self._arguments = restarts, arguments
        self._fleet: Fleet | None = None
        self._api: ServedTokens | None = None
        self._deaths: list[str] = []
        self._broken: BackendError | None = None
        self._halted: str | None = None
        self._heard: Callable[[Answer], None] | None = None
        self._closed, self._lock, self._starting = False, threading.Lock(), threading.Lock()

    def connect(self) -> None:
        """See that the tokenizer can be used; vLLM itself waits for the first request."""
        self.counter.tokenizer  # noqa: B018 - loads it

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Ask the processes."""
        return self._ask(requests, lambda api: api.generate(requests))

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Ask the processes."""
        return self._ask(requests, lambda api: api.loglikelihood(requests))

    def meter(self, heard: Callable[[Answer], None]) -> None:
        """Tell of each answer; also by clients of processes that are still to start."""
        with self._lock:
            self._heard, api = heard, self._api
        if api is not None:
            api.meter(heard)

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        api = self._api
        return api.in_flight if api is not None else 0

    def halt(self, reason: str) -> None:
        """Send no new request; processes that are only starting are ended."""
        with self._lock:
            self._halted, api, fleet = reason, self._api, self._fleet
        if api is not None:
            api.halt(reason)
        elif fleet is not None:
            threading.Thread(target=fleet.stop, name="vllm-stop").start()  # whoever halts shall not wait for it

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            self._closed = True
            fleet, api, self._fleet, self._api = self._fleet, self._api, None, None
        if api is not None:
            api.close()
        if fleet is not None:
            fleet.stop()

    def _ask(self, requests: Sequence[Request], how: Callable[[ServedTokens], Iterator[Answer]]) -> Iterator[Answer]:
        """Ask what runs; of a run that is halted, no row is asked and none starts a process."""
        try:
            return how(self._running())
        except BackendError:
            if (reason := self._halted) is None:
                raise
        return (Answer(r.request_key, "error", attempts=0, error=reason, error_class="retryable") for r in requests)

    def _running(self) -> ServedTokens:
        """Return the client of running processes; starts them where none runs, one thread for all.

        Raises:
            BackendError: they cannot be started, or died too often.
        """
        with self._starting:
            with self._lock:
                if self._closed:
                    raise BackendError(f"{self._launch.name}: the model is closed")
                if self._api is not None:
                    return self._api
                if self._broken is not None:  # what did not start once is not tried by every shard in turn
                    raise self._broken
                if self._halted is not None:
                    raise BackendError(self._halted)
                if len(self._deaths) > self._restarts:
                    raise BackendError(
                        f"{self._launch.name}: vLLM died {len(self._deaths)} times; the last time: {self._deaths[-1]}"
                    )
                fleet = self._fleet = Fleet(self._launch, self._make)
            log.info("%s: starting vLLM", self._launch.name)
            try:
                members = fleet.start(lambda reason: self._died(fleet, reason))
            except BackendError as error:
                self._broken = error
                raise
            return self._attach(fleet, members)

    def _attach(self, fleet: Fleet, members: list[Member]) -> ServedTokens:
        with self._lock:
            if self._fleet is not fleet:  # it died or was closed at this very moment
                raise BackendError(f"{self._launch.name}: vLLM ended as soon as it was ready", retryable=not self._closed)
            self._api = ServedTokens(self._spec, members, self.counter, self._context, **self._arguments)
            if self._heard is not None:
                self._api.meter(self._heard)
            if self._halted:
                self._api.halt(self._halted)
            return self._api

    def _died(self, fleet: Fleet, reason: str) -> None:
        with self._lock:
            if self._fleet is not fleet:
                return
            self._deaths.append(reason)
            api, self._api, self._fleet = self._api, None, None
        log.warning("%s: %s", self._launch.name, reason)
        if api is not None:
            api.fail(BackendError(f"{self._launch.name}: {reason}", retryable=True))
        fleet.stop()  # replicas that still run
        if api is not None:
            api.close()
