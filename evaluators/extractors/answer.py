r"""The short answer a reply ends with: after ``Answer:``, in ``\boxed{…}``, after ``####``, or a reply of one line."""

from __future__ import annotations

import re

from evaluators.extractors.text import hide_reasoning
from leaderflow.core.types import Extraction

_STATED = re.compile(
    r"(?:\banswer[*_\s]*(?:is\b\s*[:：]?|[:：])|答案\s*(?:[是为][:：]?|[:：])|####)[\s*_]*(?P<answer>[^\n]*)", re.IGNORECASE
)
_BOXED = re.compile(r"\\boxed\s*\{")
_WRAPPING = " \t\n*_`\"'“”$。"


def final_answer(text: str) -> Extraction:
    """Return the answer that the reply states last, without markdown, quotes and the full stop.

    A reply of one line is an answer as it is; a longer one that states none has none.
    """
    view = hide_reasoning(text)
    spans = [match.span("answer") for match in _STATED.finditer(view)]
    spans += [(match.end(), _closing(view, match.end())) for match in _BOXED.finditer(view)]
    spans = [(start, end) for start, end in spans if view[start:end].strip(_WRAPPING)]
    if not spans and "\n" not in view.strip():
        spans = [(0, len(view))]
    return _trimmed(view, *max(spans)) if spans else Extraction(None)


def _closing(text: str, start: int) -> int:
    """Return where the brace that opened before `start` closes; `start` where it does not."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return start


def _trimmed(text: str, start: int, end: int) -> Extraction:
    answer = text[start:end].rstrip(_WRAPPING)
    answer = answer.removesuffix(".").rstrip(_WRAPPING)
    left = len(answer) - len(answer.lstrip(_WRAPPING))
    value = answer[left:]
    return Extraction(value, start + left, start + len(answer)) if value else Extraction(None)
