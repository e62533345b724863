"""`Scripted`: a model without a model, for tests and dry runs. The same question always gets the same answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderflow.core.errors import SpecError
from leaderflow.core.identity import canonical_json, prompt_json
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Capability, Json, Prompt, Request


class Scripted:
    """Answers by rules: the first rule whose key stands in the prompt gives the reply.

    Log-likelihoods are made from a hash of the continuation, unless a rule names it: a rule's value that is a number is the
    log-likelihood of the continuations that contain its key.

    Args:
        spec: the model block.
        rules: part of a prompt → reply (text), or part of a continuation → log-likelihood in nats (number).
        reply: the reply where no rule fits; ``{prompt}`` stands for the last message or the text, ``{choice}`` for one of A–D
            that the prompt's hash picks.
    """

    capabilities: frozenset[Capability] = frozenset({"messages", "text", "generate", "tools", "loglikelihood", "embed"})

    def __init__(self, spec: ModelSpec, rules: Mapping[str, str | float] | None = None, reply: str = "Answer: {choice}") -> None:
        self._rules, self._reply = dict(rules or {}), reply
        if not isinstance(reply, str) or not all(isinstance(rule, str | int | float) for rule in self._rules.values()):
            raise SpecError("replies are texts, log-likelihoods numbers", key=f"models.{spec.abbr}")
        self.identity = canonical_json({"scripted": spec.path, "rules": self._rules, "reply": reply})

    @classmethod
    def claims(cls, **_: Json) -> frozenset[Capability]:
        """Return what it can be asked for: everything."""
        return cls.capabilities

    def connect(self) -> None:
        """Nothing to reach."""

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield the scripted replies, in order."""
        for request in requests:
            output = self._say(request.prompt)
            for stop in request.settings.stop:
                output = output.partition(stop)[0]
            words = output.split()
            limit = request.settings.max_out_len or len(words)
            if len(words) > limit:
                yield Answer(request.request_key, "truncated", " ".join(words[:limit]), finish_reason="length", output_tokens=limit)
            else:
                yield Answer(request.request_key, "ok", output, finish_reason="stop", output_tokens=len(words))

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield scripted log-likelihoods; a word counts as a token."""
        for request in requests:
            prompt = request.prompt
            scored = prompt.continuation if prompt.continuation is not None else _last(prompt)
            tokens = max(1, len(scored.split()))
            rule = next((v for k, v in self._rules.items() if k in scored and not isinstance(v, str)), None)
            total = -_unit(canonical_json(prompt_json(prompt))) * tokens if rule is None else float(rule)
            logprobs = tuple([total / tokens] * tokens)
            yield Answer(request.request_key, "ok", nll=-total, scored_tokens=tokens, token_logprobs=logprobs)

    def embed(self, texts: Sequence[str]) -> Any:
        """Return unit vectors of 16 dimensions made from hashes of the texts' words."""
        import numpy as np

        vectors = np.zeros((len(texts), 16), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split() or [""]:
                vectors[row, int(_unit(word) * 16)] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def close(self) -> None:
        """Nothing to free."""

    def _say(self, prompt: Prompt) -> str:
        whole = canonical_json(prompt_json(prompt))
        text = "\n".join(_texts(prompt))
        rule = next((v for k, v in self._rules.items() if k in text and isinstance(v, str)), None)
        if rule is not None:
            return rule
        return self._reply.replace("{prompt}", _last(prompt)).replace("{choice}", "ABCD"[int(_unit(whole) * 4)])


def _texts(prompt: Prompt) -> list[str]:
    if prompt.messages is None:
        return [prompt.text or ""]
    return [m["content"] if isinstance(m["content"], str) else canonical_json(m["content"]) for m in prompt.messages]


def _last(prompt: Prompt) -> str:
    return next((text for text in reversed(_texts(prompt)) if text), "")


def _unit(text: str) -> float:
    """Return a number in [0, 1) that depends on nothing but the text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6]) / 2**48
