"""Sends many requests to one endpoint: window, rate, attempts, and the end of the run when nothing can be asked any more."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inference.api.errors import Fault
from inference.api.limits import RateLimits
from inference.api.retry import wait_before
from inference.api.window import Window
from leaderflow.core.errors import BackendError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Request, Status

if TYPE_CHECKING:
    from inference.api.endpoint import Endpoint

Ask = Callable[[Request], Awaitable[Answer]]
"""One attempt at one request; raises Fault."""

REFUSED_AFTER = 20
"""Refusals of single rows before the first answer: then it is not the rows."""

_FINAL: Mapping[str, Status] = {"filtered": "filtered", "rejected": "rejected"}


class Client:
    """One model's use of its endpoint, from any number of threads.

    Args:
        spec: the model block.
        base_url: the endpoint's address.
        headers: of every request; no text of the client shows them.
        explain: turns a fault that concerns every row into the message that ends the run.
        hide: takes the key out of a text.
    """

    def __init__(
        self,
        spec: ModelSpec,
        base_url: str,
        headers: Mapping[str, str],
        explain: Callable[[Fault], str],
        hide: Callable[[str], str],
    ) -> None:
        self._spec, self._headers, self._explain, self._hide = spec, dict(headers), explain, hide
        self.meter: Callable[[Answer], None] | None = None
        """Told of each answer before its place in the window is free again."""
        self._limits = RateLimits(spec.rpm, spec.tpm, f"{base_url} {spec.path} {spec.key_env or spec.key}")
        self._own = Window(spec.batch_size, spec.abbr)
        self._fatal: BackendError | None = None
        self._halted: str | None = None
        self._answered, self._refusals = False, 0
        self._pauses: set[asyncio.Task[None]] = set()
        self._running: set[asyncio.Task[Any]] = set()
        self._base_url, self._closed, self._lock = base_url, False, threading.Lock()
        self._endpoint: Endpoint | None = None

    def get(self, path: str, timeout: float) -> tuple[int, bytes]:
        """Return status and body of a GET; raises as `Endpoint.get`."""
        endpoint = self._attached()
        return endpoint.submit(endpoint.get(path, self._headers, timeout)).result()

    async def post(self, path: str, body: bytes) -> bytes:
        """Post a JSON body and return the reply's; raises as `Endpoint.post`."""
        return await self._attached().post(path, body, self._headers, self._spec.timeout)

    def halt(self, reason: str) -> None:
        """Send no new request: what is in flight finishes, what waits is answered ``error`` with the reason."""
        self._halted = reason
        attached = self._endpoint  # without the lock: the loop may halt itself while a thread that holds it waits for the loop
        if attached is not None:
            attached.submit(self._end_pauses())

    async def _end_pauses(self) -> None:
        for pause in self._pauses:
            pause.cancel()

    async def _pause(self, pause: Coroutine[Any, Any, None]) -> None:
        """Wait for something that a halt cuts short; what it raises is raised."""
        task = asyncio.create_task(pause)
        self._pauses.add(task)
        try:
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()
        finally:
            self._pauses.discard(task)
            task.cancel()

    @property
    def in_flight(self) -> int:
        """Requests under way, those that wait for their rate included."""
        return self._own.in_flight

    def fail(self, error: BackendError) -> None:
        """End everything that this model is being asked, in whatever thread, with this error: its server is gone."""
        with self._lock:
            attached = self._endpoint
        if attached is None:
            self._fatal = error
        else:
            attached.submit(self._fail(error))

    async def _fail(self, error: BackendError) -> None:
        self._stop_all(error)

    def close(self) -> None:
        """Give the endpoint back; further calls do nothing."""
        with self._lock:
            self._closed, attached, self._endpoint = True, self._endpoint, None
        if attached is not None:
            attached.detach(self._spec.batch_size)

    def stream(self, requests: Sequence[Request], ask: Ask) -> Iterator[Answer]:
        """Yield an answer a request, in the order of completion; leaving the iterator cancels what is not answered.

        Raises:
            BackendError: a fault concerned every row; in all threads, nothing is sent any more.
        """
        answers: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()
        job = self._attached().submit(self._ask_all(requests, ask, answers))
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
        """Ask until there is an answer or the attempts are used up; attempts at a server that is away do not count."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._in_window(request, ask, attempt)
            except Fault as fault:
                if (given_up := self._give_up(request, fault, attempt)) is not None:
                    return given_up
                try:
                    pause = wait_before(attempt, fault)
                except Fault as impatient:
                    return self._unanswered(request, impatient, attempt)
                if self._attached().breaker.is_open:
                    attempt -= 1
            if self._halted is None:
                await self._pause(asyncio.sleep(pause))

    async def _in_window(self, request: Request, ask: Ask, attempt: int) -> Answer:
        """Ask once, within the model's own window, the endpoint's, and the rate."""
        await self._own.acquire(first=attempt > 1)
        try:
            return await self._at_endpoint(request, ask, attempt)
        finally:
            self._own.release()

    async def _at_endpoint(self, request: Request, ask: Ask, attempt: int) -> Answer:
        endpoint = self._attached()
        epoch = await endpoint.window.acquire(first=attempt > 1)
        try:
            if self._halted is None and (endpoint.breaker.is_open or self._limits.any):
                await self._pause(self._turn(endpoint, request))
            if self._fatal is not None:
                raise self._fatal
            if self._halted is not None:
                return self._unanswered(request, Fault("retryable", self._halted), attempt - 1)
            start = time.perf_counter()
            done = await ask(request)
            if self.meter is not None:
                self.meter(done)
        except Fault as fault:
            if fault.overloaded:
                endpoint.window.overloaded(epoch)
                fault.away = fault.away or endpoint.window.limit == 1  # even one at a time is too much: nothing to do but wait
            endpoint.breaker.failed(fault, first=attempt == 1)
            raise
        finally:
            endpoint.window.release()
        endpoint.window.healthy()
        endpoint.breaker.succeeded()
        self._answered = True
        return replace(done, latency_s=time.perf_counter() - start, attempts=attempt)

    async def _turn(self, endpoint: Endpoint, request: Request) -> None:
        await endpoint.breaker.wait()
        try:
            await self._limits.wait(request)
        except OSError as exc:
            raise Fault(
                "run", f"cannot keep to the rate: {exc.filename}: {exc.strerror}; set LEADERFLOW_HOME to a writable folder"
            ) from exc

    def _give_up(self, request: Request, fault: Fault, attempt: int) -> Answer | None:
        """Return the row's last word on a fault, None to ask again; what concerns every row ends the run."""
        if fault.kind == "run":
            raise self._end(fault)
        if fault.kind in _FINAL:
            self._answered = True
            return Answer(request.request_key, _FINAL[fault.kind], attempts=attempt, error=self._hide(fault.message))
        if self._attached().breaker.is_open and fault.away:
            return None
        if fault.kind == "sample" and not self._answered:
            self._refused(fault)
        if fault.kind == "sample" or attempt > self._spec.retries:
            return self._unanswered(request, fault, attempt)
        return None

    def _refused(self, fault: Fault) -> None:
        """Note a row that the server refuses; where it refuses one after the other from the first on, the run ends."""
        self._refusals += 1
        if self._refusals >= REFUSED_AFTER:
            raise self._end(Fault("run", f"{fault.message}; all of the first {self._refusals} requests were refused"))

    def _end(self, fault: Fault) -> BackendError:
        """End everything that this model is being asked, in whatever thread."""
        return self._fatal or self._stop_all(BackendError(self._explain(fault)))

    def _stop_all(self, error: BackendError) -> BackendError:
        self._fatal = error
        for task in self._running - {asyncio.current_task()}:
            task.cancel()
        return error

    def _unanswered(self, request: Request, fault: Fault, attempt: int) -> Answer:
        kind = "sample" if fault.kind == "sample" else "retryable"
        return Answer(request.request_key, "error", attempts=attempt, error=self._hide(fault.message), error_class=kind)

    def _attached(self) -> Endpoint:
        """Return the endpoint, opened at the first use: a run whose answers are all stored needs no connections and no aiohttp."""
        with self._lock:
            if self._closed:
                raise BackendError(f"{self._spec.abbr}: the model is closed")
            if self._endpoint is None:
                from inference.api.endpoint import attach

                self._endpoint = attach(self._base_url, self._spec.batch_size, self._spec.timeout)
            return self._endpoint
