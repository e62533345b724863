"""What a tag or a JSON value in a reply holds."""

from __future__ import annotations

import json
import re

from evaluators.extractors.text import hide_reasoning
from leaderflow.core.types import Extraction, Json


def tag_content(text: str, tag: str = "answer") -> Extraction:
    """Return what the last ``<tag>…</tag>`` holds, without blanks at its edges; one that is never closed is no answer.

    Args:
        text: the reply; reasoning is not read.
        tag: the tag's name, in any case, with or without its angle brackets.
    """
    name = re.escape(tag.strip("<>/ "))
    found = list(
        re.finditer(rf"<{name}(?:\s[^<>]*)?>((?:(?!<{name}[\s>]).)*?)</{name}\s*>", hide_reasoning(text), re.DOTALL | re.IGNORECASE)
    )
    if not found:
        return Extraction(None)
    content, start = found[-1][1], found[-1].start(1)
    start += len(content) - len(content.lstrip())
    return Extraction(content.strip(), start, start + len(content.strip()))


def json_value(text: str, key: str | None = None) -> Extraction:
    """Return the last JSON object of a reply, else its last array of more than plain text; reasoning is not read.

    Args:
        text: the reply; the value may stand in a fence or in the midst of text.
        key: return this entry of the last object that has it.
    """
    view = hide_reasoning(text)
    values = _values(view)
    objects = [found for found in values if isinstance(found.value, dict)]
    if key is not None:
        having = [found for found in objects if key in found.value]
        return Extraction(having[-1].value[key], having[-1].start, having[-1].end) if having else Extraction(None)
    found = objects or values
    return found[-1] if found else Extraction(None)


_FAILURES = 1000
"""How many brackets that open nothing readable are tried: a bound for degenerate replies."""


def _values(view: str) -> list[Extraction]:
    """Return all objects and arrays that stand in no other one, in order."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    found: list[Extraction] = []
    place = failed = 0
    while failed < _FAILURES and (opened := re.compile(r"[{\[]").search(view, place)):
        place = opened.end()
        try:
            value, end = decoder.raw_decode(view, opened.start())
        except (ValueError, RecursionError):
            failed += 1
            continue
        found.append(Extraction(value, opened.start(), end))
        place = end
    return found


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")
