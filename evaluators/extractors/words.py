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


_ANSWER_LINE = re.compile(
    r"^[\s*_`#>]*(?:the |final |short )*(?:answer|答案)(?: is)?[ \t*_`]*[:：](.*)$", re.MULTILINE | re.IGNORECASE
)
_SPOKEN = re.compile(r"\s*(?:so |thus |the |final |short )*(?:answer is|答案是)(?=\W)", re.IGNORECASE)
_EDGES = ' \t*_`"“”'


def answer_line(text: str) -> Extraction:
    """Return what the last line ``Answer: …`` holds, initials and abbreviations whole; a reply of one line is its own answer.

    "The answer is", emphasis and quotes around it are no part of it; reasoning is not read.
    """
    view = hide_reasoning(text)
    found = [match.span(1) for match in _ANSWER_LINE.finditer(view)]
    if not found and "\n" not in view.strip():
        lead = _SPOKEN.match(view)
        found = [(lead.end() if lead else 0, len(view))]
    if not found:
        return Extraction(None)
    start, end = found[-1]
    start += len(view[start:end]) - len(view[start:end].lstrip(_EDGES))
    end = start + len(re.sub(r"[*_`]+\.?\s*\Z", "", view[start:end]).rstrip(_EDGES))
    return Extraction(text[start:end], start, end) if start < end else Extraction(None)
