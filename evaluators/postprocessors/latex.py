"""Recorded postprocessors of boxed and LaTeX answers."""

from __future__ import annotations

import re

# Minerva's normalisation (arXiv 2206.14858, appendix D), in its order.
_REPLACED = (
    *[("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), ("\\ ", ""), (" ", ""), ("mbox", "text"), (",\\text{and}", ",")],
    *[("\\text{and}", ","), ("\\text{m}", "\\text{}"), ("\\le", "<")],
)
_REMOVED = (
    *["square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", "\\ldots", "sue", "points", "feet"],
    *["minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students", "childrentickets"],
    *["multiples", "\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}", "\\text{}", "\\mathrm{th}"],
    *["^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots", "\n", "\r", "\f"],
)
_UNWRAPPED = (r"\\text\{\((.*?)\)\}", r"\\text\{(.*?)\}", r"\\textbf\{(.*?)\}", r"\\overline\{(.*?)\}", r"\\boxed\{(.*)\}")
_KEPT = (r"finalansweris(.*)", r"answer?is:?(.*)", r"oxed\{(.*?)\}", r"\$(.*?)\$")


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
    for before, now in _REPLACED + tuple((word, "") for word in _REMOVED):
        text = text.replace(before, now)
    for wrapper in _UNWRAPPED:
        text = re.sub(wrapper, r"\1", text)
    for pattern in _KEPT:
        if found := re.findall(pattern, text):
            text = found[-1]
    text = text.strip()
    if "rac" in text and "\\frac" not in text:
        text = text.replace("rac", "\\frac")
    text = re.sub(r"(frac)([^{])(.)", r"frac{\2}{\3}", text)
    text = re.sub(r"(sqrt)([^{])", r"sqrt{\2}", text).replace("$", "")
    return text.replace(",", "") if text.replace(",", "").isdigit() else text


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
