"""Recorded postprocessors of tags: XML, reasoning, chemistry and biology."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

_LLM4CHEM_TAGS = {
    **dict.fromkeys(("forward_synthesis", "retrosynthesis", "molecule_generation", "name_conversion-i2s"), "SMILES"),
    **dict.fromkeys(("name_conversion-i2f", "name_conversion-s2f"), "MOLFORMULA"),
    "name_conversion-s2i": "IUPAC",
    **dict.fromkeys(("property_prediction-esol", "property_prediction-lipo"), "NUMBER"),
    **{f"property_prediction-{name}": "BOOLEAN" for name in ("bbbp", "clintox", "hiv", "sider")},
}


def xml_tag(text: str, tag: str) -> str:
    """Return the last text in `tag` (written ``<name>``), or ``NO ANSWER FOUND``."""
    found = re.findall(f"{tag}(.*?){tag[0]}/{tag[1:]}", text, re.DOTALL)
    return found[-1].strip() if found else "NO ANSWER FOUND"


def think_pred(text: str, re_pattern: str) -> str:
    """Return group 1 of the first match of `re_pattern` (a dot matches no newline), or the text."""
    match = re.search(re_pattern, text)
    return match[1].strip() if match else text


def non_reasoning(text: str, think_start_token: str = "<think>", think_end_token: str = "</think>") -> str:
    """Return the text without reasoning; a block that is never closed stays. The tokens are read as regular expressions."""
    if think_start_token not in text and think_end_token in text:
        return text.split(think_end_token)[-1].strip()
    return re.sub(f"{think_start_token}(.*?){think_end_token}", "", text, flags=re.DOTALL).strip()


def without_reasoning_blocks(text: str) -> str:
    """Return the stripped text without complete reasoning blocks."""
    return re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).strip()


def tagged(text: str, tag: str) -> str:
    """Return the first text between ``<tag>`` and ``</tag>``, or nothing."""
    match = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return match[1].strip() if match else ""


def _first(text: str, **words: str) -> str:
    match = re.search(rf"\b({'|'.join(words.values())})\b", text, re.IGNORECASE)
    return next((name for name, pattern in words.items() if match and re.fullmatch(pattern, match[1], re.IGNORECASE)), "")


smiles: Callable[[str], str] = partial(tagged, tag="SMILES")
material: Callable[[str], str] = partial(tagged, tag="material")
rna: Callable[[str], str] = partial(tagged, tag="rna")
protein: Callable[[str], str] = partial(tagged, tag="protein")


def yes_or_no(text: str) -> str:
    """Return ``Yes`` or ``No`` by the first such word outside reasoning, or nothing."""
    return _first(without_reasoning_blocks(text), Yes="yes", No="no")


def truth(text: str) -> str:
    """Return ``Yes`` or ``No`` by the first of the words yes, true, no, false, or nothing."""
    return _first(text, Yes="yes|true", No="no|false")


def sign(text: str) -> str:
    """Return ``positive`` or ``negative`` by the first of these words or yes and no, or nothing."""
    return _first(without_reasoning_blocks(text), positive="positive|yes", negative="negative|no")


def above(text: str, compare_number: float) -> str:
    """Return ``Yes`` if the first number outside reasoning, read without its sign, exceeds `compare_number`, ``No`` or nothing."""
    match = re.search(r"\d+(?:\.\d+)?", without_reasoning_blocks(text))
    return "" if not match else "Yes" if float(match[0]) > compare_number else "No"


def llm4chem(text: str, task: str) -> str:
    """Return what the task's tag holds; a number or a truth value is looked for in the text without one; captions are the text."""
    text = without_reasoning_blocks(text)
    tag = _LLM4CHEM_TAGS.get(task)
    if tag is None:
        return text
    if tag == "BOOLEAN":
        return truth(text)
    found = tagged(text, tag)
    if tag == "NUMBER" and not found:
        numbers = re.findall(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?", text)
        return numbers[-1] if numbers else ""
    return found


def biotext(text: str, task: str) -> str:
    """Return the text outside reasoning without a leading ``Answer:``; the task changes nothing."""
    return re.sub(r"^answer:\s*", "", non_reasoning(text), flags=re.IGNORECASE).strip()


def chemical_data(text: str) -> list[str]:
    """Return what the formula, SMILES and IUPAC tags hold, else the whole text as the one entry."""
    found = re.findall(r"<(MOLFORMULA|SMILES|IUPAC)>(.*?)</\1>", text, re.DOTALL)
    return [content.strip() for _, content in found] or [text]


def tagged_numbers(text: str) -> list[float]:
    """Return the numbers in ``<NUMBER>`` tags."""
    return [float(number) for number in re.findall(r"<NUMBER>\s*(-?\d*\.?\d+)\s*</NUMBER>", text)]


def boolean_loose(text: str) -> str | None:
    """Return a boolean tag by ``yes``, else by ``no``, even inside words, or None."""
    word = next((word for word in ("Yes", "No") if word.lower() in text.lower()), None)
    return f"<BOOLEAN> {word} </BOOLEAN>" if word else None


def boolean_strict(text: str) -> str:
    """Return a boolean tag by the first word ``yes`` or ``no`` outside reasoning, or nothing."""
    word = yes_or_no(text)
    return f"<BOOLEAN> {word} </BOOLEAN>" if word else ""
