"""The recorded TheoremQA postprocessors of the few-shot answer format ``The answer is …``."""

from __future__ import annotations

import re

_TRIGGERS = ("The answer is:", "The answer is", "the answer is")
_OPTIONS = ("(a)", "(b)", "(c)", "(d)", "(e)", "(f)")


def value(text: str, answer_flag: bool = True) -> str:
    """Return True or False, an option as it is, or the number, as the official scorer reads an answer.

    Args:
        text: the answer; ``yes``, ``true``, ``no`` and ``false`` count inside other words too.
        answer_flag: whether `text` follows an answer phrase; otherwise the last number of it is taken.
    """
    low = text.lower()
    if "yes" in low or "true" in low:
        return "True"
    if "no" in low or "false" in low:
        return "False"
    if any(option in low for option in _OPTIONS):
        return text
    if not answer_flag:
        numbers = re.findall(r"-?\d*\.?\d+", text)
        return numbers[-1] if numbers else ""
    text = _without_units(text.split("=")[-1].strip())
    return text.split(" ")[0] if re.match(r"-?[\d.]+\s(?:\D+|\S+)$", text) else text


def _without_units(text: str) -> str:
    text = text.replace("\\pi", "π")
    text = re.sub(r"(?<![\d}])\\?π", "3.14", text)
    text = re.sub(r"(\d)\\?π", r"\1*3.14", text)
    text = text.replace("%", "/100")
    for unit in ("$", "¥", "°C", " C", "°"):
        text = text.replace(unit, "")
    return text


def theoremqa_v3(text: str) -> str:
    """Return the value after the last answer phrase, else the last value of the text."""
    text = text.strip("\n")
    if any(text.count(trigger) > 1 for trigger in _TRIGGERS):
        text = text.split("\n\n")[0]
    parts = re.split("|".join(_TRIGGERS), text)
    answer = parts[-1].strip("\n").rstrip(".").rstrip("/").strip(" ")
    return value(answer, answer_flag=len(parts) > 1).rstrip(".").rstrip("/")


def theoremqa_v4(text: str) -> str:
    """Return the same without backslashes and round brackets at its edges."""
    return theoremqa_v3(text).strip("\\()")
