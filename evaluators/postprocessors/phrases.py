"""Recorded postprocessors that look behind an answer phrase."""

from __future__ import annotations

import re

from evaluators.postprocessors.lines import after

_PREFIXES = ("The answer is: ", "The answer is ", "The final answer is: ", "The final answer is ")


def _answer(text: str) -> str:
    found = after(text, "answer is ")
    return found if found is text else found.strip()


def bbh_mcq(text: str) -> str:
    """Return the first capital after ``answer is``, one in brackets before any other, else the text there."""
    answer = _answer(text)
    match = re.search(r"\(([A-Z])", answer) or re.search(r"([A-Z])", answer)
    return match[1] if match else answer


def bbh_freeform(text: str) -> str:
    """Return of the line after ``answer is`` the bold part, else a leading yes, no, true or false, else all without commas."""
    answer = re.split(r"answer is:?\s+", text)[-1].strip().split("\n")[0].strip()
    if bold := re.search(r"\*\*(.*?)\*\*", answer):
        return bold[1]
    if word := re.match(r"(yes|no|true|false)\b", answer, re.IGNORECASE):
        return word[1].capitalize()
    return answer.removesuffix(".").replace(",", "").strip()


def _bbeh_answer(text: str) -> str:
    prefix = next((p for p in _PREFIXES if p in text), None)
    return text.split(prefix)[-1] if prefix else text


def bbeh_freeform(text: str) -> str:
    """Return the first line after ``The answer is`` without boxes, text commands and bold marks, in lower case."""
    answer = _bbeh_answer(text)
    for markup in (r"\\boxed{(.*?)}", r"\\text(?:tt)?{(.*?)}", r"\*\*(.*?)\*\*"):
        answer = re.sub(markup, r"\1", answer)
    return answer.split("\n")[0].strip().lower()


def bbeh_mcq(text: str) -> str:
    """Return the first line after ``The answer is`` without brackets at its edges, in lower case."""
    return _bbeh_answer(text).strip("()").split("\n")[0].strip().lower()


def strategyqa(text: str) -> str:
    """Return the first ``yes`` or ``no`` (also inside a word) after ``answer is`` in the first paragraph, or nothing."""
    match = re.search(r"yes|no", text.split("\n\n")[0].split("answer is ")[-1].lower())
    return match[0] if match else ""


def strategyqa_dataset(text: str) -> str:
    """Return ``yes`` for the reference True, else ``no``."""
    return "yes" if str(text) == "True" else "no"


def theoremqa(text: str) -> str:
    """Return the first word after ``answer is`` without punctuation at its edges, else the stripped text."""
    match = re.search(r"answer is (\S+)", text)
    return match[1].strip(".,?!\"';:") if match else text.strip()


def theoremqa_v2(text: str) -> str:
    """Return the words of the last line after its last ``is``, ``be``, ``are`` or colon."""
    kept: list[str] = []
    for word in reversed(text.strip().split("\n")[-1].split(" ")):
        if word in ("is", "be", "are") or word.endswith(":"):
            break
        kept.insert(0, word)
    return " ".join(kept).strip().strip(".")


def math_answer(text: str) -> str:
    """Return the rest of the line after ``Answer:``, or nothing (the pattern of OpenAI's simple-evals)."""
    match = re.search(r"(?i)ANSWER\s*:\s*([^\n]+)", text)
    return match[1] if match else ""


def match_answer_pattern(text: str, answer_pattern: str) -> str:
    """Return group 1 of the first match of `answer_pattern`, or nothing."""
    match = re.search(answer_pattern, text)
    return match[1] if match else ""
