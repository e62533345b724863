"""Recorded postprocessors that pick an option letter."""

from __future__ import annotations

import re

from evaluators.postprocessors.lines import last_line

# Each entry is tried on the whole text before the next one; {o} is the class of the options.
_FIRST = (
    r"答案是?\s*({o})",
    r"答案是?\s*：\s*({o})",
    r"答案是?\s*:\s*({o})",
    r"答案选项应?该?[是为]\s*({o})",
    r"答案应该?[是选]\s*({o})",
    r"答案选项为?\s*：\s*({o})",
    r"答案选项为?\s+\(?\*?\*?({o})\*?\*?\)?",
    r"答案选项是?\s*:\s*({o})",
    r"答案为\s*({o})",
    r"答案选\s*({o})",
    r"选择?\s*({o})",
    # Two neighbouring patterns are fused in the recorded version, so "only option X is right" is never seen.
    r"故选?\s*({o})只有选?项?\s?{o}\s?是?对",
    r"只有选?项?\s?({o})\s?是?错",
    r"只有选?项?\s?({o})\s?不?正确",
    r"只有选?项?\s?({o})\s?错误",
    r"说法不?对选?项?的?是\s?({o})",
    r"说法不?正确选?项?的?是\s?({o})",
    r"说法错误选?项?的?是\s?({o})",
    r"({o})\s?是正确的",
    r"({o})\s?是正确答案",
    r"选项\s?({o})\s?正确",
    r"所以答\s?({o})",
    r"所以\s?({o}[.。$]?$)",
    r"所有\s?({o}[.。$]?$)",
    r"[\s，：:,]({o})[。，,.]?$",
    r"[\s，,：:][故即]({o})[。.]?$",
    r"[\s，,：:]因此({o})[。.]?$",
    r"[是为。]\s?({o})[。.]?$",
    r"因此\s?({o})[。.]?$",
    r"显然\s?({o})[。.]?$",
    r"答案是\s?(\S+)(?:。|$)",
    r"答案应该是\s?(\S+)(?:。|$)",
    r"答案为\s?(\S+)(?:。|$)",
    r"(?i)ANSWER\s*:\s*({o})",
    r"[Tt]he answer is:?\s+\(?({o})\)?",
    r"[Tt]he answer is:?\s+\(?\*?\*?({o})\*?\*?\)?",
    r"[Tt]he answer is option:?\s+\(?({o})\)?",
    r"[Tt]he correct answer is:?\s+\(?({o})\)?",
    r"[Tt]he correct answer is option:?\s+\(?({o})\)?",
    r"[Tt]he correct answer is:?.*?boxed\{{({o})\}}",
    r"[Tt]he correct option is:?.*?boxed\{{({o})\}}",
    r"[Tt]he correct answer option is:?.*?boxed\{{({o})\}}",
    r"[Tt]he answer to the question is:?\s+\(?({o})\)?",
    r"^选项\s?({o})",
    r"^({o})\s?选?项",
    r"(\s|^){o}[\s。，,：:.$]",
    r"1.\s?(.*?)$",
)
_CUSHION = (r"({o}):", r"({o})")


def first_option(text: str, options: str, cushion: bool = True) -> str:
    """Return the first option, in the order of `options`, that the match of the first fitting pattern holds, or nothing.

    Args:
        text: the prediction.
        options: the option characters.
        cushion: whether any option character counts in the end.
    """
    text = text.strip()
    for template in _FIRST + (_CUSHION if cushion else ()):
        if match := re.search(template.format(o=f"[{options}]"), text, re.DOTALL):
            found = match[1] or match[0]
            if option := next((o for o in options if o in found), None):
                return option
    return ""


def last_option(text: str, options: str) -> str:
    """Return the last option character of the text, or nothing."""
    found = re.findall(f"[{options}]", text)
    return found[-1] if found else ""


def capitals(text: str) -> list[str]:
    """Return the upper-case characters of any script."""
    return [character for character in text if character.isupper()]


def first_capital(text: str) -> str:
    """Return the first upper-case character, or nothing."""
    return next(iter(capitals(text)), "")


def last_capital(text: str) -> str:
    """Return the last upper-case character, or nothing."""
    return next(reversed(capitals(text)), "")


def first_capitals(text: str) -> str:
    """Return the first run of A to D, or nothing."""
    match = re.search(r"[A-D]+", text)
    return match[0] if match else ""


def multiple_select(text: str) -> str:
    """Return all upper-case characters once, sorted."""
    return "".join(sorted(set(capitals(text))))


def multiple_select_list(text: str) -> str:
    """Return all upper-case characters once, sorted, joined by ``, ``."""
    return ", ".join(sorted(set(capitals(text))))


def first_a_to_f(text: str) -> str:
    """Return the first character of A to F, or nothing."""
    match = re.search(r"[A-F]", text)
    return match[0] if match else ""


def all_ascii_capitals(text: str, setting_name: str) -> list[str]:
    """Return all capitals A to Z, of the last line only with the setting ``few-shot-CoT``."""
    return re.findall(r"[A-Z]", last_line(text) if setting_name == "few-shot-CoT" else text)


def in_lenticular_brackets(text: str) -> str:
    """Return what stands between 【 and 】, or nothing."""
    if "【" not in text or "】" not in text:
        return ""
    return text[text.index("【") + 1 : text.index("】")]


def gpqa_simple_eval(text: str) -> str | None:
    """Return the letter A to D after ``Answer:`` (any case, also inside a word), or None."""
    match = re.search(r"(?i)Answer\s*:\s*([A-D])", text)
    return match[1] if match else None


def arxivrollbench_choice(text: str) -> str:
    """Return the first word that is a letter A to D, in upper case, or the stripped text."""
    match = re.search(r"\b([A-D])\b", text.upper())
    return match[1] if match else text.strip()


def arxivrollbench_selection(text: str) -> str:
    """Return ``Selection N`` for the first word that is 1, 2 or 3, or the stripped text."""
    match = re.search(r"\b([1-3])\b", text)
    return f"Selection {match[1]}" if match else text.strip()


def crowspairs(text: str) -> str:
    """Return A or B as a first character, as a word or before any character; otherwise ``invalid``."""
    if "Neither" in text or "Both" in text:
        return "invalid"
    if text[:1] in ("A", "B"):
        return text[0]
    return next((letter for letter in "AB" if re.search(rf" {letter} |{letter}.", text)), "invalid")


def elbench_choices(text: str) -> str:
    """Return the letters after an answer phrase, or a text that holds nothing but letters A to H, each once in order."""
    phrase = r"(?i:\banswer\b[^.\n]{0,30}?\bis\b|\banswer\W*:|答案\w{0,4}?[是为选])"
    match = re.search(phrase + r"[\W_]*(?i:option|choice)?[\W_]*([A-Z]+)(?![a-z])", text)
    if not match:
        match = re.fullmatch(r"\W*([A-Ha-h][A-Ha-h\s,、]*)\W*", text)
    return "".join(dict.fromkeys(re.findall(r"[A-Z]", match[1].upper()))) if match else ""


def zebralogic_choice(text: str) -> str:
    """Return the letter after ``answer is``, in brackets, in bold, or alone on a line, or nothing."""
    patterns = (r"answer is:?\s*\(?([A-Z])\b", r"\(([A-Z])\)", r"\*\*([A-Z])\*\*", r"(?m)^\s*([A-Z])\s*$")
    match = next((m for m in (re.search(p, text) for p in patterns) if m), None)
    return match[1] if match else ""
