"""Answers as judges see them: of the model under test, and of those that it is compared with."""

from __future__ import annotations

import json
from dataclasses import dataclass

from leaderflow.core.types import Json


@dataclass(frozen=True, slots=True)
class RivalAnswer:
    """What a rival answered to one sample × repeat; `text` is None where it gave nothing that can be shown."""

    text: str | None
    pending: bool = False
    """It has no answer yet and will be asked again: the pair cannot be judged."""


def shown_text(value: Json) -> str:
    """Return an extracted value as a judge sees it; the turns of a conversation one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(f"[{number}] {part}" for number, part in enumerate(value, 1))
    return json.dumps(value, ensure_ascii=False)


def answer_text(output: str | None, turns: str | None) -> str:
    """Return a whole answer, by two columns of the infer table."""
    return shown_text(json.loads(turns)) if turns else output or ""


def rival_answer(status: str, extracted: str | None) -> RivalAnswer:
    """Return a rival's answer, by two columns of its postprocess table."""
    if status in ("error", "filtered", "rejected") or extracted is None:
        return RivalAnswer(None, status == "error")
    value = json.loads(extracted)
    return RivalAnswer(None if value is None else shown_text(value) or None)
