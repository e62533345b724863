"""vLLM's OpenAI server as one of a model's processes."""

from __future__ import annotations

import http.client
import socket
import urllib.request
from collections.abc import Sequence
from typing import IO

from inference.api.endpoint import Endpoint
from inference.vllm.process import Launch, Process


class Server(Process):
    """A server on a free port of this machine."""

    def __init__(self, launch: Launch, devices: Sequence[str] | None, leases: Sequence[IO[bytes]]) -> None:
        self.port = _free_port()
        place = ["--host", "127.0.0.1", "--port", str(self.port)]
        super().__init__(launch, self.port, place, devices=devices, leases=leases)

    @property
    def base_url(self) -> str:
        """The address of its API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def ready(self) -> bool:
        """Say whether it answers that it can be asked."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{self.port}/health", timeout=5) as reply:
                return bool(reply.status == 200)
        except (OSError, http.client.HTTPException):
            return False

    def may_start_again(self) -> bool:
        """Say whether somebody else took the port between its choice and its use."""
        return "address already in use" in self.tail().lower()

    async def post(self, endpoint: Endpoint, path: str, body: bytes, headers: dict[str, str], timeout: float) -> bytes:
        """Post a JSON body and return the reply's; raises as `Endpoint.post`."""
        return await endpoint.post(path, body, headers, timeout, base_url=self.base_url)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
