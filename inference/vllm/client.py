"""Asks leaderflow's own vLLM processes, by token ids: they read what our tokenizer made of a prompt, as Transformers would."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from inference.api.backend import OpenAISDK
from inference.api.body import PATHS, generate_body, score_body
from inference.api.client import Client
from inference.api.errors import Fault, malformed
from inference.api.logprobs import scored
from inference.api.reply import answer, first_choice, parse
from inference.huggingface.tokens import PromptError, Tokens
from inference.vllm.process import Member
from leaderflow.core.errors import BackendError
from leaderflow.core.identity import sha256_hex
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Json, Prompt, Request, Settings

DEFAULT_OUT_LEN = 512
"""Generated tokens where neither recipe nor model block sets a limit."""

DEATH_SHOWS_S = 5.0
"""Within this time a process that died is known to be dead, and no row is blamed for it."""

_NO_TEXT = Prompt(text="")


class ServedTokens(OpenAISDK):
    """One model on processes of our own.

    Args:
        spec: the model block, its `path` the served name.
        members: the processes that answer, which share one window.
        tokens: the tokenizer.
        context: the model's context length in tokens.
        arguments: of `OpenAISDK`.
    """

    def __init__(self, spec: ModelSpec, members: Sequence[Member], tokens: Tokens, context: int | None, **arguments: Any) -> None:
        own = spec.model_copy(update={"openai_api_base": members[0].base_url})
        super().__init__(own, route="completions", logprobs="prompt_logprobs", **arguments)
        self._tokens, self._context = tokens, context
        self._client: Replicas = Replicas(own, members, self._explain, self._hide_key)

    def fail(self, error: BackendError) -> None:
        """End everything that is being asked with this error."""
        self._client.fail(error)

    async def _generate_one(self, request: Request) -> Answer:
        ids = self._encode(request.prompt)
        settings = self._settings(request, len(ids))
        sent = replace(settings, stop=()) if self.style.thinks else settings
        asked = {**self.extra_body, "prompt": ids, **self._stops(sent.stop)}
        body = generate_body(self.spec.path, self.route, _NO_TEXT, sent, self.limit_field, asked)
        return answer(request, parse(await self._client.post(PATHS[self.route], body)), self.style)

    async def _score_one(self, request: Request) -> Answer:
        try:
            ids, start = self._tokens.encode_scored(request.prompt)
        except PromptError as exc:
            raise Fault("rejected", str(exc)) from exc
        if self._context is not None and len(ids) > self._context:
            raise Fault("rejected", f"the text has {len(ids)} tokens, the context {self._context}")
        body = score_body(self.spec.path, _NO_TEXT, "prompt_logprobs", {**self.extra_body, "prompt": ids})
        values = _chosen(await self._client.post(PATHS[self.route], body), ids)[start:]
        return scored(request, values, prompt_tokens=len(ids), output_tokens=0)

    def _stops(self, stops: tuple[str, ...]) -> dict[str, Json]:
        """Return all stop strings, and as ids the special tokens they begin with, which vLLM does not show and so never finds."""
        ids = [*self.extra_body.get("stop_token_ids", []), *self._tokens.special(stops)]
        return {**({"stop": list(stops)} if stops else {}), **({"stop_token_ids": ids} if ids else {})}

    def _encode(self, prompt: Prompt) -> list[int]:
        try:
            ids = self._tokens.encode(prompt)
        except PromptError as exc:
            raise Fault("rejected", str(exc)) from exc
        if not ids:
            raise Fault("rejected", "the prompt is empty")
        return ids

    def _settings(self, request: Request, prompt_tokens: int) -> Settings:
        """Return the settings with nothing left to the server's defaults: greedy, and a limit that fits the context."""
        settings = request.settings
        wanted = settings.max_out_len or DEFAULT_OUT_LEN
        room = wanted if self._context is None else self._context - prompt_tokens
        if room < 1:
            raise Fault("rejected", f"the prompt has {prompt_tokens} tokens, the context {self._context}: no room for an answer")
        temperature = settings.temperature or 0.0
        seed = settings.seed if settings.seed is not None else int(sha256_hex(request.request_key)[:8], 16) if temperature else None
        return replace(settings, max_out_len=min(wanted, room), temperature=temperature, seed=seed)


class Replicas(Client):
    """A client whose requests go to the least busy of several processes."""

    def __init__(self, spec: ModelSpec, members: Sequence[Member], explain: Any, hide: Any) -> None:
        super().__init__(spec, members[0].base_url, {"Content-Type": "application/json"}, explain, hide)
        self._members, self._busy = list(members), [0] * len(members)

    async def post(self, path: str, body: bytes) -> bytes:
        """Post a JSON body and return the reply's; raises as `Endpoint.post`."""
        place = self._busy.index(min(self._busy))
        self._busy[place] += 1
        try:
            return await self._members[place].post(self._attached(), path, body, self._headers, self._spec.timeout)
        except Fault as fault:
            if fault.kind == "retryable":
                await asyncio.sleep(DEATH_SHOWS_S)
            raise
        finally:
            self._busy[place] -= 1


def _chosen(body: bytes, ids: Sequence[int]) -> list[float]:
    """Return the log-probability of each id of a prompt; 0 for the first one, which nothing predicts.

    Raises:
        Fault: the body is malformed or tells of other tokens.
    """
    entries = first_choice(body)[0].get("prompt_logprobs")
    if not isinstance(entries, list) or len(entries) != len(ids):
        raise malformed("no log-probabilities of the prompt")
    try:
        return [0.0, *(float(entry[str(token)]["logprob"]) for token, entry in zip(ids[1:], entries[1:], strict=True))]
    except (KeyError, TypeError, ValueError) as exc:
        raise malformed(f"no log-probabilities of the prompt ({type(exc).__name__}: {exc})") from None
