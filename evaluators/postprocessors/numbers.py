"""Recorded postprocessors that pick a number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from leaderflow.core.errors import DataError

Language = Literal["en", "bn", "de", "es", "fr", "ja", "ru", "sw", "te", "th", "zh"]
MGSM_PREFIXES: Mapping[Language, str] = {
    "en": "Answer",
    "bn": "উত্তর",
    "de": "Antwort",
    "es": "Respuesta",
    "fr": "Réponse",
    "ja": "答え",
    "ru": "Ответ",
    "sw": "Jibu",
    "te": "సమాధానం",
    "th": "คำตอบ",
    "zh": "答案",
}


def gsm8k(text: str) -> str:
    """Return the last number before the next question, or ``NULL``; commas split numbers."""
    numbers = re.findall(r"-?\d+\.\d+|-?\d+", text.split("Question:")[0])
    return numbers[-1] if numbers else "NULL"


def gsm8k_dataset(text: str) -> str:
    """Return what follows the first ``#### `` of a reference, without commas.

    Raises:
        DataError: the reference has no such mark.
    """
    _, mark, answer = text.partition("#### ")
    if not mark:
        raise DataError("a GSM8K reference needs '#### ' before its answer; this one has none")
    return answer.split("#### ")[0].replace(",", "")


def gsm100(text: str) -> str:
    """Return the digits (up to a full stop) of the first word with a digit after ``The answer is``, or nothing."""
    words = text.split("The answer is")[1:2]
    word = next((w for w in "".join(words).split(" ") if re.search(r"\d", w)), "")
    return re.sub(r"\D", "", word.split(".")[0])


def first_number(text: str) -> float | None:
    """Return the first number with its sign, or None; commas split numbers."""
    match = re.search(r"-?\d*\.?\d+", text)
    return float(match[0]) if match else None


def first_number_text(text: str) -> str | None:
    """Return the first number without sign as it is written, or None."""
    match = re.search(r"\d+\.\d+|\d+", text)
    return match[0] if match else None


def first_unsigned(text: str) -> float:
    """Return the first number without its sign, 0 where there is none."""
    match = re.search(r"\d+(?:\.\d+)?", text)
    return float(match[0]) if match else 0.0


def mgsm(text: str, lang: Language) -> str:
    """Return the last number after the language's answer word, or nothing."""
    _, prefix, answer = text.rpartition(MGSM_PREFIXES[lang])
    numbers: list[str] = re.findall(r"\d+\.?\d*", answer.replace(",", "")) if prefix else []
    return numbers[-1].rstrip(".") if numbers else ""


def mathbench(text: str, name: str) -> str:
    """Return a number or fraction: the first after the answer phrase, else the last of the text; without one, the text.

    Args:
        text: the prediction.
        name: the subset; ``_cn`` in it makes the phrase 答案是, else it is ``The answer is``.
    """
    parts = text.split("答案是" if "_cn" in name else "The answer is")
    answer = parts[1].strip() if len(parts) > 1 else text
    numbers: list[str] = re.findall(r"-?\d*\.?/?\d+", _joined(answer))
    if not numbers:
        return answer
    return numbers[0] if len(parts) > 1 else numbers[-1]


def scibench(text: str) -> str:
    """Return the first boxed text (up to its first brace), else the last number after ``answer is``, else the text there."""
    parts = text.split("answer is")
    answer = parts[1].strip() if len(parts) > 1 else text
    if box := re.search(r"\\boxed\{(.+?)\}", answer):
        return box[1]
    numbers = re.findall(r"-?\d*\.?\d+", _joined(answer))
    return numbers[-1] if numbers else answer


def _joined(text: str) -> str:
    return re.sub(r"(\d),(\d)", r"\1\2", text)


_AMOUNT = r"[\d$.,/:]+"
_SIGNED_AMOUNT = r"[\-\d$.,/:]*\d+"
_VERBS = (("be", "is"), ("are", "was"), ("were",))
_LETTER = "[A-Za-z]"
_SAYS = "[Th]he answer is "
"""Recorded: found with a capital only; the bracket holds two single letters."""


def _stated_amounts() -> Iterator[str]:
    """Yield where TabMWP's scorer looks for a number, in its order."""
    yield rf"{_SAYS}([\s\S]+)$"
    yield rf"[Th]he table shows that ({_AMOUNT}) "
    yield rf" = ({_AMOUNT})"
    for verbs in _VERBS:
        yield rf"(?<={'|'.join(f' {verb}' for verb in verbs)}) ({_SIGNED_AMOUNT})"
    yield f"({_SIGNED_AMOUNT})"


def _stated_letters() -> Iterator[str]:
    """Yield where TabMWP's scorer looks for an option's letter, in its order."""
    bracketed = rf"\(({_LETTER})\)"
    yield from (f"^{bracketed}$", f"^({_LETTER})$", f"^({_LETTER}). ")
    yield f"{_SAYS}([A-Z])"
    yield from (rf"{before}{bracketed} [\s\S]+$" for before in ("^", _SAYS))


def tabmwp(text: str, options: Sequence[str] | None = None) -> str:
    """Return the option or the number that a TabMWP reply states, after the official scorer.

    Raises:
        DataError: the letter names no option (the official scorer then draws one at random).
    """
    text = re.sub(r"\$?\\frac\{([\d.,/]+)\}\{([\d.,]+)\}\$?", r"\1/\2", text)
    text = re.sub(r"(?<=\d)=(?=[-$\d])", " = ", text).replace("\u2212", "-")
    if options:
        return _table_option(text, options)
    found = next((m for m in (re.findall(p, text) for p in _stated_amounts()) if m), None)
    return found[-1].strip().removesuffix(".") if found else text


def _table_option(text: str, options: Sequence[str]) -> str:
    for pattern in _stated_letters():
        match = re.search(pattern, text)
        if match and (place := "ABCDEFGH".find(match[1].upper())) >= 0:
            if place >= len(options):
                raise DataError(f"{match[1]!r} names none of the {len(options)} options")
            return options[place]
    return max(options, key=lambda option: _similarity(option, text))


def _similarity(option: str, text: str) -> float:
    if option == text:
        return 2.0
    left, right = option.split(" "), text.split(" ")
    return len(set(left) & set(right)) / max(len(left), len(right))
