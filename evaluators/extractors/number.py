"""The number a reply ends with."""

from __future__ import annotations

import re

from evaluators.extractors.text import hide_reasoning
from leaderflow.core.types import Extraction

_NUMBER = re.compile(r"(?<![\w.])[-+−]?\$?\d[\d,]*(?:\.\d+)?")


def final_number(text: str) -> Extraction:
    """Return the answer's number as text without separators: after the last ``####``, else the last number."""
    view = hide_reasoning(text)
    view = view[: (re.search(r"\n\s*(?:Question|Q)\s*:", view) or re.search(r"$(?!\n)", view)).start()]
    mark = view.rfind("####")
    found = list(_NUMBER.finditer(view, mark + 4 if mark >= 0 else 0))
    if not found:
        return Extraction(None)
    match = found[0] if mark >= 0 else found[-1]
    return Extraction(match[0].replace(",", "").replace("$", "").replace("−", "-").lstrip("+"), match.start(), match.end())
