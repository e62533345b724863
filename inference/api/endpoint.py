"""One endpoint: the event loop, the connections and the window that everything sent to it shares."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import resource
import threading
import urllib.request
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp

from inference.api.breaker import Breaker
from inference.api.errors import Fault, from_status
from inference.api.retry import retry_after
from inference.api.window import Window

T = TypeVar("T")

CONNECT_S = 5.0

OTHER_FILES = 512
"""Open files that a process needs beside its connections."""

_loops: dict[int, asyncio.AbstractEventLoop] = {}
_endpoints: dict[str, Endpoint] = {}
_lock = threading.Lock()


@dataclass(eq=False)
class Endpoint:
    """An endpoint in use. `window` and the connections are shared by all models, shards and cells that ask it.

    Its window is as large as the largest that one of its users asks for; each keeps to its own size besides.
    """

    base_url: str
    window: Window
    breaker: Breaker
    proxy: str | None
    sizes: list[int] = field(default_factory=list)
    session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: bytes, headers: dict[str, str], timeout: float, base_url: str | None = None) -> bytes:
        """Post a JSON body and return the reply's; `base_url` names one of several servers that are one endpoint.

        Raises:
            Fault: no reply within `timeout` seconds, a lost connection, or a status other than 200.
        """
        url = f"{base_url or self.base_url}/{path}"
        options: dict[str, Any] = {"headers": headers, "proxy": self.proxy, "allow_redirects": False}
        try:
            async with asyncio.timeout(timeout), self._open().post(url, data=body, **options) as response:
                content = await response.read()
        except (aiohttp.ClientConnectionError, ConnectionError) as exc:  # a connection that cannot be had in time is one of them
            raise Fault("retryable", f"connection failed: {exc or type(exc).__name__}", away=True) from None
        except TimeoutError:
            raise Fault("retryable", f"no reply within {timeout:g} s") from None
        except (aiohttp.ClientError, OSError) as exc:
            raise Fault("retryable", f"the reply broke off: {exc or type(exc).__name__}") from None
        if 300 <= response.status < 400:  # following it could turn the POST into a GET, or carry the key elsewhere
            elsewhere = response.headers.get("location", "another address")
            raise Fault("run", f"HTTP {response.status}: the endpoint has moved to {elsewhere}")
        if response.status != 200:
            raise from_status(response.status, content, retry_after(response.headers))
        return content

    async def get(self, path: str, headers: dict[str, str], timeout: float) -> tuple[int, bytes]:
        """Return status and body of a GET.

        Raises:
            OSError: the endpoint cannot be reached, or says nothing for `timeout` seconds (TimeoutError).
        """
        async with asyncio.timeout(timeout):
            async with self._open().get(f"{self.base_url}/{path}", headers=headers, proxy=self.proxy) as response:
                return response.status, await response.read()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the endpoints' loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, loop())

    async def resize(self) -> None:
        """Fit the window to its present users."""
        if self.sizes and self.window.size != max(self.sizes):
            self.window.resize(max(self.sizes))

    def detach(self, size: int) -> None:
        """Give the endpoint back; the last user closes its connections."""
        with _lock:
            self.sizes.remove(size)
            last = not self.sizes
            if last:
                _endpoints.pop(self.base_url, None)
        if not last:
            self.submit(self.resize()).result()
        elif self.session is not None:
            self.submit(self.session.close()).result()

    def _open(self) -> aiohttp.ClientSession:
        if self.session is None:  # the window bounds the connections; waiting for one must not count against a request
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=30)
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
            self.session = aiohttp.ClientSession(connector=connector, timeout=timeout)
        return self.session


def loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all endpoints, which runs in a thread of its own."""
    with _lock:
        found = _loops.get(os.getpid())  # a forked child has no such thread
        if found is None:
            found = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=found.run_forever, name="api-loop", daemon=True).start()
            atexit.register(_abandon)
        return found


def attach(base_url: str, size: int, patience: float) -> Endpoint:
    """Return the endpoint of that address; `Endpoint.detach` gives it back.

    Args:
        base_url: the address.
        size: how many requests the caller wants in flight.
        patience: for how many seconds the endpoint may be away (the first caller's counts).
    """
    with _lock:
        endpoint = _endpoints.get(base_url)
        if endpoint is None:
            parts = Window(size, base_url), Breaker(base_url, patience), _proxy(base_url)
            endpoint = _endpoints[base_url] = Endpoint(base_url, *parts)
        endpoint.sizes.append(size)
        _allow_connections(size)
    endpoint.submit(endpoint.resize()).result()
    return endpoint


def _abandon() -> None:
    """Close at exit what its users did not close (after Ctrl-C, say), so that nothing is sent or printed any more."""
    own = _loops.get(os.getpid())
    if own is not None:
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_close_all(), own).result(timeout=2)


async def _close_all() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    for endpoint in list(_endpoints.values()):
        if endpoint.session is not None:
            await endpoint.session.close()


def _allow_connections(size: int) -> None:
    """Raise the process's soft limit of open files where a window of `size` connections would not fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * size + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed if hard == resource.RLIM_INFINITY else min(needed, hard), hard))


def _proxy(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address; asked once, because it costs as much as a request."""
    parts = urlsplit(base_url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    return urllib.request.getproxies().get(parts.scheme)
