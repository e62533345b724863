"""The fake OpenAI-compatible server (aiohttp). /stats tells what it saw, a POST to /control replaces the script or the counters."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from tests.fake_openai.script import Script, Stats, prompt_of

KEPT_BODIES = 5_000


class Fake:
    def __init__(self, script: Script) -> None:
        self.script, self.stats, self.in_flight = script, Stats(), 0
        self._seen: dict[bytes, int] = {}
        self.by_model: Counter[str] = Counter()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**26)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_post("/v1/completions", self.completions)
        app.router.add_post("/v1/responses", self.responses)
        app.router.add_get("/stats", self.tell)
        app.router.add_post("/control", self.control)
        return app

    async def models(self, request: web.Request) -> web.StreamResponse:
        if self.script.models is None:
            return web.json_response({"error": {"message": "no such route"}}, status=404)
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in self.script.models]})

    async def tell(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({**self.stats.__dict__, "in_flight": self.in_flight})

    async def control(self, request: web.Request) -> web.StreamResponse:
        order = await request.json()
        if order.get("reset"):
            self.stats, self._seen = Stats(), {}
        if "script" in order:
            self.script = Script.of({**self.script.json(), **order["script"]})
        return web.json_response(self.script.json())

    async def chat(self, request: web.Request) -> web.StreamResponse:
        return await self.serve(request, self.chat_body)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        return await self.serve(request, self.completion_body)

    async def responses(self, request: web.Request) -> web.StreamResponse:
        return await self.serve(request, self.response_body)

    async def serve(self, request: web.Request, good: Any) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        stats, prompt = self.stats, prompt_of(body)
        stats.headers = dict(request.headers)
        attempt = self._note(raw, body, prompt)
        full = self.script.limit is not None and self.in_flight >= self.script.limit
        self.in_flight += 1
        self.by_model[body["model"]] += 1
        stats.peaks[body["model"]] = max(stats.peaks.get(body["model"], 0), self.by_model[body["model"]])
        stats.peak = max(stats.peak, self.in_flight)
        try:
            if full:
                return self._reply({"status": 429, "json": {"error": {"message": "too many in flight"}}})
            reply = self.script.pick(prompt, body, attempt)
            if wait := reply.get("delay", self.script.latency):
                await asyncio.sleep(wait)
            if "break" in reply:
                return await self._break(request, reply["break"])
            if "json" in reply or "raw" in reply:
                return self._reply(reply)
            return self._reply({**reply, "json": good(body, reply.get("content", self.script.text(prompt)))})
        finally:
            self.in_flight -= 1
            self.by_model[body["model"]] -= 1

    def chat_body(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        text, reason = stopped(text, body)
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 20, "completion_tokens": len(text.split()), "total_tokens": 20 + len(text.split())}
        choices = [{"index": 0, "message": message, "finish_reason": reason}]
        return {"id": "chatcmpl-1", "object": "chat.completion", "model": body.get("model"), "choices": choices, "usage": usage}

    def response_body(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        thought = {"type": "reasoning", "summary": []}
        usage = {"input_tokens": 20, "output_tokens": len(text.split())}
        return {
            "object": "response",
            "status": "completed",
            "model": body.get("model"),
            "output": [thought, message],
            "usage": usage,
        }

    def completion_body(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        prompt = body["prompt"]
        text, reason = stopped(text, body)
        if body.get("max_tokens") == 0:
            text = ""
        choice: dict[str, Any] = {"index": 0, "text": (prompt if body.get("echo") else "") + text, "finish_reason": reason}
        if body.get("logprobs") is not None:
            choice["logprobs"] = logprobs(tokens_of(prompt if body.get("echo") else "") + tokens_of(text))
        if body.get("prompt_logprobs") is not None:
            choice["prompt_logprobs"] = prompt_logprobs(prompt)
        usage = {"prompt_tokens": len(tokens_of(prompt)), "completion_tokens": len(tokens_of(text))}
        return {"object": "text_completion", "model": body.get("model"), "choices": [choice], "usage": usage}

    def _note(self, raw: bytes, body: dict[str, Any], prompt: str) -> int:
        stats = self.stats
        stats.requests += 1
        stats.times.append(time.time())
        stats.attempts[prompt] += 1
        stats.prompt_times.setdefault(prompt, []).append(time.time())
        if len(stats.bodies) < KEPT_BODIES:
            stats.bodies.append(body)
        seen = hashlib.sha256(raw).digest()
        self._seen[seen] = self._seen.get(seen, 0) + 1
        return self._seen[seen]

    def _reply(self, reply: dict[str, Any]) -> web.StreamResponse:
        status = reply.get("status", 200)
        self.stats.statuses[str(status)] += 1
        text = reply["raw"] if "raw" in reply else json.dumps(reply["json"])
        headers = {"Content-Type": "application/json", **{k: dated(v) for k, v in reply.get("headers", {}).items()}}
        charset = reply.get("charset", "utf-8")
        body = text.encode(charset, "surrogatepass" if charset == "utf-8" else "strict")
        return web.Response(body=body, status=status, headers=headers)

    async def _break(self, request: web.Request, how: str) -> web.StreamResponse:
        self.stats.statuses[how] += 1
        if how == "hang":
            await asyncio.sleep(3600)
        length = {} if how == "chunk" else {"Content-Length": "1000"}
        response = web.StreamResponse(headers={"Content-Type": "application/json", **length})
        if how in ("cut", "chunk", "drip"):
            await response.prepare(request)
            await response.write(b'{"choices": [')
        while how == "drip":
            await response.write(b" ")
            await asyncio.sleep(0.1)
        if request.transport is not None:
            request.transport.abort() if how == "reset" else request.transport.close()
        return response


def stopped(text: str, body: dict[str, Any]) -> tuple[str, str]:
    """Cut a text as a server does: at the first stop string, then at max_tokens words."""
    stop = body.get("stop") or []
    stop = [stop] if isinstance(stop, str) else stop
    text = text[: min((at for s in stop if (at := text.find(s)) >= 0), default=len(text))]
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    pieces = tokens_of(text)
    return ("".join(pieces[:limit]), "length") if limit and len(pieces) > limit else (text, "stop")


def tokens_of(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def logprobs(tokens: list[str]) -> dict[str, Any]:
    """Echo form: the first token has no log-probability, the others −0.1 for each of their characters."""
    offsets, at = [], 0
    for token in tokens:
        offsets.append(at)
        at += len(token)
    values = [None if i == 0 else -0.1 * len(token) for i, token in enumerate(tokens)]
    return {"tokens": tokens, "text_offset": offsets, "token_logprobs": values, "top_logprobs": [None] * len(tokens)}


def prompt_logprobs(text: str) -> list[dict[str, Any] | None]:
    """VLLM's form: for each prompt token a mapping of token id → logprob, rank and text; the first is null."""
    entries: list[dict[str, Any] | None] = []
    for i, token in enumerate(tokens_of(text)):
        entries.append({str(i): {"logprob": -0.1 * len(token), "rank": 1, "decoded_token": token}} if i else None)
    return entries


def dated(value: str) -> str:
    found = re.fullmatch(r"\{date\+(\d+)\}", value)
    return format_datetime(datetime.now(UTC) + timedelta(seconds=int(found[1]) + 1), usegmt=True) if found else value


def serve(script: Script, port: int, announce: Any) -> None:
    async def run() -> None:
        runner = web.AppRunner(Fake(script).app(), access_log=None, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        announce(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())
