"""The recorded TheoremQA postprocessors of the few-shot answer format ``The answer is …``."""

from __future__ import annotations

import re
from collections import Counter

_PHRASE = re.compile("The answer is:?|the answer is")
_TRUTH = {"True": ("yes", "true"), "False": ("no", "false")}
_OPTION = re.compile(r"\([a-f]\)", re.IGNORECASE)
_REWRITES = (
    (re.compile(r"\\pi"), "π"),
    (re.compile(r"(?<![\d}])\\?π"), "3.14"),
    (re.compile(r"(\d)\\?π"), r"\1*3.14"),
    (re.compile("%"), "/100"),
    *((re.compile(sign), "") for sign in ("[$¥]", "°C", " C", "°")),
)
"""π as a number, per cent as a fraction; currency, degrees and Celsius say nothing of the number."""
_NUMBER_AND_UNIT = re.compile(r"(-?[\d.]+)\s(?:\D+|\S+)$")


def value(text: str, answer_flag: bool = True) -> str:
    """Return True or False, an option as it is, or the number, as the official scorer reads an answer.

    Args:
        text: the answer; ``yes``, ``true``, ``no`` and ``false`` count inside other words too.
        answer_flag: whether `text` follows an answer phrase; otherwise the last number of it is taken.
    """
    low = text.lower()
    if truth := next((said for said, words in _TRUTH.items() if any(word in low for word in words)), None):
        return truth
    if _OPTION.search(text):
        return text
    return _stated_number(text) if answer_flag else next(reversed(re.findall(r"-?\d*\.?\d+", text)), "")


def _stated_number(text: str) -> str:
    """Return what stands behind the last ``=``, without its unit."""
    stated = text.rpartition("=")[2].strip()
    for pattern, written in _REWRITES:
        stated = pattern.sub(written, stated)
    return stated.partition(" ")[0] if _NUMBER_AND_UNIT.match(stated) else stated


def theoremqa_v3(text: str) -> str:
    """Return the value after the last answer phrase, else the last value of the text.

    A phrase that comes again begins another example, which a base model goes on to invent: only the first paragraph is read.
    """
    stripped = text.strip("\n")
    if any(times > 1 for times in Counter(phrase[0] for phrase in _PHRASE.findall(stripped)).values()):
        stripped = stripped.partition("\n\n")[0]
    *before, answer = _PHRASE.split(stripped)
    bare = answer.strip("\n").rstrip(".").rstrip("/").strip(" ")
    return value(bare, answer_flag=bool(before)).rstrip(".").rstrip("/")


def theoremqa_v4(text: str) -> str:
    """Return the same without backslashes and round brackets at its edges."""
    return theoremqa_v3(text).strip("\\()")
