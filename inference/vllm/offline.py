"""vLLM's offline engine as one of a model's processes: asked through pipes, without a server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Any

from inference.api.endpoint import Endpoint
from inference.api.errors import Fault, from_status
from inference.vllm.process import Launch, Process
from leaderflow.core.types import Json

ENGINE = Path(__file__).with_name("offline_engine.py")

_numbers = itertools.count(1)


class Child(Process):
    """A process of `offline_engine`; what is asked waits in one place, so batches fill across the shards of all cells."""

    def __init__(self, launch: Launch, devices: Sequence[str] | None, leases: Sequence[IO[bytes]]) -> None:
        super().__init__(launch, f"offline-{os.getpid()}-{next(_numbers)}", devices=devices, leases=leases, pipes=True)
        self._ready = threading.Event()
        self._waiting: dict[int, Future[Mapping[str, Json]]] = {}
        self._lock, self._writing = threading.Lock(), threading.Lock()
        threading.Thread(target=self._read, name="vllm-replies", daemon=True).start()

    @property
    def base_url(self) -> str:
        """A name of its own for its window."""
        return f"http://vllm-{self._process.pid}.invalid/v1"

    def ready(self) -> bool:
        """Say whether the weights are loaded."""
        return self._ready.is_set()

    def may_start_again(self) -> bool:
        """Say no: nothing about its start is left to chance."""
        return False

    async def post(self, endpoint: Endpoint, path: str, body: bytes, headers: dict[str, str], timeout: float) -> bytes:
        """Ask for one completion and return the reply's body.

        Raises:
            Fault: no reply within `timeout` seconds, the process is gone, or vLLM refuses the request.
        """
        number, reply = next(_numbers), Future[Mapping[str, Json]]()
        with self._lock:
            self._waiting[number] = reply
        try:
            async with asyncio.timeout(timeout):
                await asyncio.to_thread(self._say, {"id": number, "body": json.loads(body)})
                return _body(await asyncio.wrap_future(reply))
        except OSError as exc:
            kind = f"no reply within {timeout:g} s" if isinstance(exc, TimeoutError) else f"vLLM is gone ({exc})"
            raise Fault("retryable", kind) from None
        finally:
            with self._lock:
                answered = self._waiting.pop(number, None) is None
            if not answered:
                self._cancel(number)

    def _say(self, message: Mapping[str, Any]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with self._writing:
            if pipe.closed:
                raise BrokenPipeError("it ended")
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()

    def _cancel(self, number: int) -> None:
        """Give a request up; in a thread, because the pipe may be full and the caller runs everybody's loop."""

        def tell() -> None:
            with contextlib.suppress(OSError):
                self._say({"cancel": number})

        threading.Thread(target=tell, name="vllm-cancel", daemon=True).start()

    def _read(self) -> None:
        """Hand out replies until the process is gone; then nothing that waits will ever come.

        The pipes are closed here and not by who ends the process: a descendant may hold their other ends a moment longer.
        """
        out, into = self._process.stdout, self._process.stdin
        assert out is not None
        assert into is not None
        with contextlib.suppress(OSError, ValueError), out:
            for line in out:
                self._hear(json.loads(line))
        with self._lock:
            lost, self._waiting = self._waiting, {}
        for reply in lost.values():
            if reply.set_running_or_notify_cancel():
                reply.set_exception(ConnectionError("it ended"))
        with self._writing, contextlib.suppress(OSError):
            into.close()

    def _hear(self, message: Mapping[str, Any]) -> None:
        if "ready" in message:
            self._ready.set()
            return
        with self._lock:
            reply = self._waiting.pop(message["id"], None)
        if reply is not None and reply.set_running_or_notify_cancel():
            reply.set_result(message)


def _body(message: Mapping[str, Json]) -> bytes:
    """Return the reply's body; raises as `Child.post` does."""
    if "refused" in message:
        kind = from_status(400, str(message["refused"]).encode()).kind
        raise Fault(kind, f"vLLM refuses the request: {message['refused']}")
    return json.dumps(message["reply"]).encode()
