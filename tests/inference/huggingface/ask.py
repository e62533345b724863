"""Questions to a backend and their answers, in the order of the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from leaderflow.core.identity import sha256_hex
from leaderflow.core.types import Answer, Backend, Prompt, Request, Settings


def requests(prompts: Sequence[Prompt | str], settings: Settings, salt: str = "") -> list[Request]:
    made = [Prompt(text=p) if isinstance(p, str) else p for p in prompts]
    return [Request(sha256_hex(f"{salt}{at}{p}{asdict(settings)}"), p, settings) for at, p in enumerate(made)]


def generate(backend: Backend, prompts: Sequence[Prompt | str], salt: str = "", **settings: object) -> list[Answer]:
    asked = requests(prompts, Settings(**settings), salt)
    return in_order(asked, backend.generate(asked))


def loglikelihood(backend: Backend, prompts: Sequence[Prompt | str]) -> list[Answer]:
    asked = requests(prompts, Settings())
    return in_order(asked, backend.loglikelihood(asked))


def in_order(asked: Sequence[Request], answers) -> list[Answer]:
    found = {answer.request_key: answer for answer in answers}
    assert len(found) == len(asked)
    return [found[request.request_key] for request in asked]


def user(text: str, system: str | None = None) -> Prompt:
    first = ({"role": "system", "content": system},) if system else ()
    return Prompt(messages=(*first, {"role": "user", "content": text}))
