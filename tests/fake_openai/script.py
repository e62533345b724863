"""What the fake server does: a script of latency, limits and rules, which may be changed while it runs."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.fake_openai.faults import FAULTS, Reply


@dataclass
class Rule:
    """Reply n of `replies` (a mapping or a fault's name) goes to attempt n of a request, the last one to all further attempts.

    It holds for prompts that contain `contains`, are longer than `longer_than` characters, belong to the `share` (0–1) that their
    hash picks, for requests to `model`, and for bodies with that `field`.
    """

    replies: list[Any]
    contains: str = ""
    longer_than: int = 0
    share: float = 1.0
    model: str | None = None
    field: str | None = None

    def fits(self, prompt: str, body: dict[str, Any]) -> bool:
        named = self.model in (None, body.get("model")) and (self.field is None or self.field in body)
        return named and self.contains in prompt and len(prompt) > self.longer_than and unit("rule" + prompt) < self.share

    def reply(self, attempt: int) -> Reply:
        found = self.replies[min(attempt, len(self.replies)) - 1]
        return FAULTS[found] if isinstance(found, str) else found


@dataclass
class Script:
    """`latency` in seconds; `limit`: more requests in flight than this get a 429; `models`: for /v1/models, None: no such route.

    `answers`: part of the prompt → text; `reply`: the text otherwise, ``{choice}`` and ``{number}`` picked by the prompt's hash,
    ``{prompt}`` the prompt itself.
    """

    latency: float = 0.0
    limit: int | None = None
    rules: list[Rule] = dataclasses.field(default_factory=list)
    answers: dict[str, str] = dataclasses.field(default_factory=dict)
    reply: str = "Let me see. Answer: {choice}"
    models: list[str] | None = dataclasses.field(default_factory=lambda: ["fake"])

    @classmethod
    def of(cls, data: dict[str, Any]) -> Script:
        return cls(**{**data, "rules": [Rule(**rule) for rule in data.get("rules", [])]})

    def json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def pick(self, prompt: str, body: dict[str, Any], attempt: int) -> Reply:
        rule = next((rule for rule in self.rules if rule.fits(prompt, body)), None)
        return rule.reply(attempt) if rule else {}

    def text(self, prompt: str) -> str:
        found = next((text for part, text in self.answers.items() if part in prompt), self.reply)
        values = {"{choice}": "ABCD"[int(unit(prompt) * 4)], "{number}": str(int(unit(prompt) * 1000)), "{prompt}": prompt}
        for name, value in values.items():
            found = found.replace(name, value)
        return found


@dataclass
class Stats:
    """Counters.

    `peaks` are the peaks of single models, `attempts` counts equal prompts, `times` are the arrivals in seconds, `headers` are the
    last request's.
    """

    requests: int = 0
    peak: int = 0
    peaks: dict[str, int] = dataclasses.field(default_factory=dict)
    statuses: Counter[str] = dataclasses.field(default_factory=Counter)
    attempts: Counter[str] = dataclasses.field(default_factory=Counter)
    times: list[float] = dataclasses.field(default_factory=list)
    bodies: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    prompt_times: dict[str, list[float]] = dataclasses.field(default_factory=dict)


def unit(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6]) / 2**48


def prompt_of(body: dict[str, Any]) -> str:
    if "prompt" in body:
        prompt = body["prompt"]
        return prompt if isinstance(prompt, str) else str(prompt)
    content = body["messages" if "messages" in body else "input"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
