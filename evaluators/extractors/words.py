"""Words of a reply."""

from __future__ import annotations

import re

from evaluators.extractors.text import hide_reasoning, plain
from leaderflow.core.types import Extraction

_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")


def first_word(text: str) -> Extraction:
    """Return the first word of the answer, without punctuation or emphasis; reasoning is not read."""
    found = _WORD.search(plain(hide_reasoning(text)))
    return Extraction(text[found.start() : found.end()], *found.span()) if found else Extraction(None)
