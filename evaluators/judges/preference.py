"""Which of two answers a judge prefers, in the forms that the prompts of pairwise benchmarks ask for."""

from __future__ import annotations

import re

from evaluators.extractors.verdict import verdict
from leaderflow.core.types import Extraction

LABELS = ("A", "B", "TIE")

_LONE = {"m": "A", "M": "B"}
"""AlpacaEval 2: the reply is nothing but the name of the better model."""
_BRACKETS = re.compile(r"\[\[\s*([ABC]|TIE|A\s*(?:>>?|=|<<?)\s*B|B\s*(?:>>?|=|<<?)\s*A)\s*\]\]")
"""MT-Bench, Arena-Hard: ``[[A]]``, ``[[B>>A]]``, ``[[A=B]]``, ``[[C]]`` for a tie."""
_CHOSEN_LINE = re.compile(r"^\W*选择\s*[:：]\W*([ABC])\b", re.MULTILINE)
"""CompassArena: a line ``选择：A``, C for a tie."""
_CHOICE_FIELD = re.compile(r'"choice"\s*:\s*"\s*(A\+{1,2}|A=B|B\+{1,2})\s*"')
"""WildBench, CompassBench: a field ``"choice": "A++"`` of a JSON object."""


def preference(text: str) -> Extraction:
    """Return ``A`` (the first answer), ``B`` or ``TIE``, or nothing.

    A reply that states several different preferences has none: one of them may be a quotation. How much better an answer is does
    not count.
    """
    if label := _LONE.get(text.strip().strip("\"'`*.")):
        return Extraction(label)
    for form in (_BRACKETS, _CHOSEN_LINE, _CHOICE_FIELD):
        if said := [(_side(match[1]), match) for match in form.finditer(text)]:
            label, last = said[-1]
            return Extraction(label, *last.span()) if len({side for side, _ in said}) == 1 else Extraction(None)
    return verdict(text, LABELS)


def _side(written: str) -> str:
    """Return the label of a preference as a prompt's own words put it."""
    said = re.sub(r"\s", "", written)
    if said in ("C", "TIE") or "=" in said:
        return "TIE"
    loser_first = "<" in said
    return "B" if said.startswith("B") != loser_first else "A"
