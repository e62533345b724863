"""A judge's verdict, read strictly: only the last line counts, and only as a statement of its own.

A judge quotes the answer it judges, and the answer may carry a verdict of its own. So nothing before the last line is looked at, a
label inside a word or a sentence is none ("INCORRECT" is not correct, "A good answer" is not A), a quoted statement is none, and a
line quoted with ``>`` is not the judge's. Two labels marked on one line, neither in quotes, are no
verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaderflow.core.types import Extraction

_NAMES = (
    r"(?:final\s+|overall\s+|my\s+)?(?:verdict|grade|judge?ment|decision|conclusion|score|rating|result)"
    r"|(?:最终|总体|综合)?(?:结论|判定|评判|判断|评分|得分|分数|等级|结果)"
)
_DECORATION = re.compile(r"[*`#>\s]+|(?<!\w)_+|_+(?!\w)")
_OWN_LINE = re.compile(r"^(?![ \t]*>)[^\n]*\S", re.MULTILINE)
_NUMBER = r"[+-]?\d+(?:\.\d+)?"


def verdict(text: str, labels: Sequence[str] = ("CORRECT", "INCORRECT")) -> Extraction:
    """Return the label that a judgement's last line states, as it is written in `labels`, or nothing.

    A statement is ``VERDICT: LABEL`` (grade, judgement, decision, …; Chinese too), ``[[LABEL]]`` at the end of the line, or a line
    that is nothing but the label; the label may stand in brackets, quotes or bold. Case does not matter.
    """
    options = "|".join(re.escape(label).replace("_", "[_ ]") for label in sorted(labels, key=len, reverse=True))
    line, start, end = _last_line(text)
    found = _stated(line, options)
    if found is None:
        return Extraction(None)
    return Extraction(next(label for label in labels if _folded(label) == _folded(found)), start, end)


def rating(text: str, low: float = 1, high: float = 10) -> Extraction:
    """Return the number that a judgement's last line states (``SCORE: 7``, ``[[7]]``, ``7/10``), nothing outside low…high."""
    line, start, end = _last_line(text)
    found = _stated(line, _NUMBER, rf"(?:\s*/\s*{high:g}|\s*分)?")
    if found is None or not low <= float(found) <= high:
        return Extraction(None)
    number = float(found)
    return Extraction(int(number) if number.is_integer() else number, start, end)


def _folded(label: str) -> str:
    return label.casefold().replace("_", " ")


def _last_line(text: str) -> tuple[str, int, int]:
    """Return the last line of the judge's own that says something, without decoration, and where it stands."""
    lines = [line.span() for line in _OWN_LINE.finditer(text)]
    start, end = lines[-1] if lines else (0, 0)
    return _DECORATION.sub(" ", text[start:end]).strip(), start, end


def _stated(line: str, options: str, unit: str = "") -> str | None:
    body = line.rstrip(" .。!！")
    wrapped = rf'(?:({options})|"({options})"|“({options})”|\[({options})\]|\[\[({options})\]\]|\(({options})\)|【({options})】)'
    for form in (
        rf"(?:(?:{_NAMES})\s*(?:is\s*)?[:：=]\s*)?{wrapped}{unit}",
        rf'(?:(?!(?<!["“])\[\[(?:{options})\]\])[^\n])*\[\[({options})\]\]',
        rf"(?:(?:(?!\\boxed\{{(?:{options})\}})[^\n])*\s)?\$?\\boxed\{{({options})\}}\$?",
    ):
        if match := re.fullmatch(form, body, re.IGNORECASE):
            return next(group for group in match.groups() if group is not None)
    return None
