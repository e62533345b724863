"""The option a reply states."""

from __future__ import annotations

import re

from evaluators.extractors.text import hide_reasoning, plain
from leaderflow.core.types import Extraction


def choice_letter(text: str, options: str = "ABCD") -> Extraction:
    """Return the option that the reply states last, as written in `options`."""
    view = plain(hide_reasoning(text))
    letter = rf"[\s(\[{{]*(?P<letter>[{options}{options.lower()}])(?![\w'’+#])"
    stated = rf"(?:answers?(?:\s+is)?\s*:?|\\boxed|答案(?:是|为)?\s*:?|选项?|<answer>){letter}"
    found = list(re.finditer(stated, view, re.IGNORECASE)) or list(re.finditer(rf"\A{letter}\W*\Z", view))
    if not found:
        return Extraction(None)
    match = found[-1]
    return Extraction(match["letter"].upper(), match.start("letter"), match.end("letter"))
