"""Recorded postprocessors of boxed and LaTeX answers."""

from __future__ import annotations

import re

# What Minerva's normalisation takes out (arXiv 2206.14858, appendix D), by what it is.
_MEASURES = "square inches ft feet km cm meters mph hours minutes degrees gm pounds dollars cents"
_COUNTED = "ways integers units points digits meals edges students multiples childrentickets sue"
_SPACING = ("\\;", ",\\!", "{,}", '"', "\\ldots", "\\dots", "\n", "\r", "\f", "^\\circ", "^{\\circ}", "\\mathrm{th}")
_EMPTY_TEXTS = ("s", ".", "\ns")
_TEXT_POWERS = ("}^2", "}^3", "\n}", "}")
_ARTICLES = ("an ", "a ")
_ANSWER_MARKS = (r"finalansweris(.*)", r"answer?is:?(.*)", r"oxed\{(.*?)\}", r"\$(.*?)\$")
"""What marks the answer in a text without blanks; each in turn cuts the text down to its last find."""


def balanced(text: str, start: int) -> int | None:
    """Return the offset of the brace that closes the one open before `start`, or None where the text ends first."""
    depth = 1
    for offset in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[offset], 0)
        if not depth:
            return offset
    return None


def _box(text: str, start: int) -> str | None:
    end = balanced(text, start + len("\\boxed{")) if text.startswith("\\boxed{", max(start, 0)) and start >= 0 else None
    return None if end is None else text[start + len("\\boxed{") : end]


def last_boxed(text: str, strip_double_curly_brace: bool = False) -> str | None:
    r"""Return the content of the last ``\boxed{…}``, or None; also None if that one is never closed."""
    content = _box(text, text.rfind("\\boxed"))
    if content is not None and strip_double_curly_brace and re.fullmatch(r"\{.*\}", content):
        return content[1:-1]
    return content


def first_boxed(text: str) -> str:
    r"""Return the content of the first ``\boxed{…}``, else the last line."""
    content = _box(text, text.find("\\boxed{"))
    return text.strip().split("\n")[-1] if content is None else content.strip()


def boxed_to_first_brace(text: str) -> str | None:
    r"""Return the last ``\boxed{…}`` up to its first closing brace, or None."""
    found = re.findall(r"\\boxed\{([^}]+)\}", text)
    return found[-1] if found else None


def paragraph_index(text: str) -> int | str | None:
    r"""Return the last ``\boxed{…}`` up to its first closing brace without opening ones, as an integer where it is one."""
    found = re.findall(r"\\boxed\{([^}]*)\}", text)
    if not found:
        return None
    content = found[-1].replace("{", "").strip()
    return int(content) if re.fullmatch(r"[-+]?\d+", content) else content


def greedy_boxed(text: str) -> str | None:
    r"""Return the last line's ``\boxed{…}`` up to the line's last brace, or None."""
    found = re.findall(r"\\boxed{(.+)}", text)
    return found[-1] if found else None


def _plain(content: str) -> str:
    return re.sub(r"\\(.)", r"\1", re.sub(r"\\text\{([^}]*)\}", r"\1", content))


def biology_boxed(text: str) -> str | None:
    r"""Return the last ``\boxed{…}`` with at most one level of braces inside, without ``\text`` and backslashes, or None."""
    found = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", text)
    return _plain(found[-1].strip()) if found else None


def boxed_number(text: str) -> float | None:
    r"""Return the last ``\boxed{…}`` that holds nothing but a number, or None."""
    found = re.findall(r"\\boxed\{\s*([-+]?\d*\.?\d+)\s*\}", text)
    return float(found[-1]) if found else None


def needle_boxed(text: str) -> str:
    r"""Return the last ``\boxed{…}`` without a second pair of braces, ``\text`` and backslashes; ``None`` as text without one."""
    content = last_boxed(text, strip_double_curly_brace=True)
    return _plain(content).strip() if content else "None"


def normalize_final_answer(text: str) -> str:
    """Normalise an answer as Minerva does (arXiv 2206.14858, appendix D)."""
    bare = _bare(_without_words(_without_blanks(text)))
    for mark in _ANSWER_MARKS:
        bare = (re.findall(mark, bare) or [bare])[-1]
    answer = _braced(bare.strip()).replace("$", "")
    digits = answer.replace(",", "")
    return digits if digits.isdigit() else answer


def _without_blanks(text: str) -> str:
    """Return a text without articles, dollar signs that are text, and blanks; a joining "and" is a comma."""
    for article in _ARTICLES:
        text = text.replace(article, "")
    text = text.replace(".$", "$")
    for blank in ("\\$", "\\ ", " "):
        text = text.replace(blank, "")
    text = text.replace("mbox", "text")
    for joint in (",\\text{and}", "\\text{and}"):
        text = text.replace(joint, ",")
    return text.replace("\\text{m}", "\\text{}").replace("\\le", "<")


def _without_words(text: str) -> str:
    r"""Return a text without units, counted things and spacing, first the words, then what their going leaves of ``\text``."""
    for word in f"{_MEASURES} {_COUNTED}".split():
        text = text.replace(word, "")
    for left in (*(f"{inner}}}" for inner in _EMPTY_TEXTS), *_TEXT_POWERS):
        text = text.replace(f"\\text{{{left}", "")
    for mark in _SPACING:
        text = text.replace(mark, "")
    return text


def _bare(text: str) -> str:
    """Return a text without the commands that only change its looks."""
    text = re.sub(r"\\text\{\((.*?)\)\}", r"\1", text)
    for command in ("text", "textbf", "overline"):
        text = re.sub(rf"\\{command}\{{(.*?)\}}", r"\1", text)
    return re.sub(r"\\boxed\{(.*)\}", r"\1", text)


def _braced(text: str) -> str:
    r"""Return a text with whole ``\frac`` commands, and braces around what single characters are the parts of."""
    if "rac" in text and "\\frac" not in text:
        text = text.replace("rac", "\\frac")
    text = re.sub(r"frac([^{])(.)", r"frac{\1}{\2}", text)
    return re.sub(r"sqrt([^{])", r"sqrt{\1}", text)


def _sentence(text: str, phrases: str) -> str:
    sentences = text.split(".")
    return normalize_final_answer(next((s for s in sentences if re.search(phrases, s.lower())), sentences[0]))


def math_postprocess(text: str) -> str:
    """Return the normalised sentence with ``final answer``, else the first one."""
    return _sentence(text, "final answer")


def math_postprocess_v2(text: str) -> str:
    """Return the last box, else the normalised sentence with ``final answer`` or ``answer is``, else the first one."""
    return last_boxed(text, strip_double_curly_brace=True) or _sentence(text, "final answer|answer is")


def math_intern(text: str) -> str | None:
    """Return the formula after ``The final answer is``, else the first box (``}}`` halved; a cut-off one is empty), or None."""
    phrase, box = "The final answer is ", "\\boxed{"
    if phrase in text:
        answer = text[text.find(phrase) + len(phrase) :]
        return _halved(answer[1 : answer.find("$.")])
    if box not in text:
        return None
    start = text.find(box) + len(box)
    end = balanced(text, start)
    return _halved(text[start : len(text) - 1 if end is None else end])


def _halved(text: str) -> str:
    text = text.strip().replace("{{", "{").replace("}}", "}")
    return text[:-1] if text.endswith((".", "。")) else text
