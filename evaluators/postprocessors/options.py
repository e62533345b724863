"""Recorded postprocessors that pick an option letter."""

from __future__ import annotations

import re
from functools import cache

from evaluators.postprocessors.lines import last_line


def _each(frame: str, *parts: str) -> tuple[str, ...]:
    """Return a frame filled with each part in turn: `…` is the part's place, `@` the option's."""
    return tuple(frame.replace("…", part) for part in parts)


_BOLD = r"\(?\*?\*?@\*?\*?\)?"
_BRACKETED = r"\(?@\)?"

_CHINESE = (
    *_each(r"答案…\s*@", "是?", r"是?\s*：", r"是?\s*:", "选项应?该?[是为]", "应该?[是选]", r"选项为?\s*："),
    rf"答案选项为?\s+{_BOLD}",
    *_each(r"…\s*@", r"答案选项是?\s*:", "答案为", "答案选", "选择?"),
    # Recorded: this asks for the letter a second time, so that "only X is right" alone is never seen.
    r"故选?\s*@只有选?项?\s?(?:@)\s?是?对",
    *_each(r"只有选?项?\s?@\s?…", "是?错", "不?正确", "错误"),
    *_each(r"说法…选?项?的?是\s?@", "不?对", "不?正确", "错误"),
    *_each(r"@\s?是正确…", "的", "答案"),
    r"选项\s?@\s?正确",
    r"所以答\s?@",
    *_each(r"…\s?@[.。$]?$", "所以", "所有"),
    r"[\s，：:,]@[。，,.]?$",
    *_each(r"[\s，,：:]…@[。.]?$", "[故即]", "因此"),
    *_each(r"…\s?@[。.]?$", "[是为。]", "因此", "显然"),
    *_each(r"答案…\s?(\S+)(?:。|$)", "是", "应该是", "为"),
)
_ENGLISH = (
    r"(?i:ANSWER\s*:\s*@)",
    *_each(r"[Tt]he answer is:?\s+…", _BRACKETED, _BOLD),
    *_each(rf"[Tt]he …:?\s+{_BRACKETED}", "answer is option", "correct answer is", "correct answer is option"),
    *_each(r"[Tt]he correct … is:?.*?boxed\{@\}", "answer", "option", "answer option"),
    rf"[Tt]he answer to the question is:?\s+{_BRACKETED}",
)
_PLACED = (
    r"^选项\s?@",
    r"^@\s?选?项",
    r"^@[\s。，,：:.$]",
    r"1.\s?(.*?)$",
)
_ANYWHERE = ("@:", "@")
"""Where letters count when nothing else was found (`cushion`)."""


@cache
def _cues(options: str, cushion: bool) -> tuple[re.Pattern[str], ...]:
    frames = _CHINESE + _ENGLISH + _PLACED + (_ANYWHERE if cushion else ())
    return tuple(re.compile(frame.replace("(?:@)", f"[{options}]").replace("@", f"([{options}])"), re.DOTALL) for frame in frames)


def first_option(text: str, options: str, cushion: bool = True) -> str:
    """Return the option that the first fitting cue states, or nothing.

    A cue is looked for in the whole text before the next one is. What it catches may be a word: the first option, in the order of
    `options`, that stands in it counts, and without one the next cue is tried.

    Args:
        text: the prediction.
        options: the option characters.
        cushion: whether any option character counts in the end.
    """
    stripped = text.strip()
    caught = (match[1] or match[0] for cue in _cues(options, cushion) if (match := cue.search(stripped)))
    return next((option for words in caught for option in options if option in words), "")


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
