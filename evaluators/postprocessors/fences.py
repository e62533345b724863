"""Recorded postprocessors of program text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from leaderflow.core.errors import DataError


def _blocks(text: str) -> list[str]:
    return re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)


def first_block(text: str) -> str:
    """Return the first fenced block, else the text, without blanks before it."""
    return ([*_blocks(text), text])[0].lstrip()


def last_block(text: str) -> str:
    """Return the last fenced block, else the text, without blanks before it."""
    return ([text, *_blocks(text)])[-1].lstrip()


def _fenced_lines(text: str, first: int, second: int) -> str:
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if "```" in line]
    return "\n".join(lines[fences[first] + 1 : fences[second]]) if len(fences) > 1 else ""


def between_first_fences(text: str, model_type: str = "chat") -> str:
    """Return the lines between the first two fences; the stripped text for `model_type` ``base``."""
    return text.strip() if model_type == "base" else _fenced_lines(text, 0, 1)


def between_last_fences(text: str) -> str:
    """Return the lines between the last two fences, or nothing."""
    return _fenced_lines(text, -2, -1)


def asserted_line(text: str) -> str:
    """Return the last line that starts with ``assert``, else the lines between the first two fences."""
    asserts = [line for line in text.split("\n") if line.startswith("assert")]
    if asserts:
        return asserts[-1]
    start = re.search(r"```[pP]ython", text)
    return _fenced_lines(text[start.start() :] if start else text, 0, 1)


def executed_value(text: str, cot: bool = False) -> str:
    """Return what follows the first ``==`` up to ``[/ANSWER]`` or the end of the line.

    Args:
        text: the prediction.
        cot: whether the answer starts after ``[ANSWER]``.
    """
    if cot and "[ANSWER]" in text:
        text = text.split("[ANSWER]")[1].strip()
    if "==" in text:
        text = text.split("==")[1].strip()
    return text.split("[/ANSWER]" if "[/ANSWER]" in text else "\n")[0].strip()


def first_line_uncommented(text: str) -> str:
    """Return the first line of the stripped text without a trailing comment."""
    return text.strip().split("\n")[0].split(" #")[0].strip()


_MARKED = (
    r"```python(.*?)```",
    r"```(.*?)```",
    r"<code>(.*?)</code>",
    r"BEGIN SOLUTION(.*?)END SOLUTION",
)


def ds1000(text: str) -> str:
    """Return the first text in a Python fence, any fence, a code tag or solution marks, else the text; blanks stay."""
    match = next((m for m in (re.search(p, text, re.DOTALL) for p in _MARKED) if m), None)
    return match[1] if match else text


def ds1000_completion(text: str) -> str:
    """Return the text before ``</code>``."""
    return text.split("</code>")[0]


_ENDS = ((r"\[BEGIN\]", r"\[DONE\]"), ("BEGIN", r"\[DONE\]"), (r"\[BEGIN\]", "DONE"), ("BEGIN", "DONE"))
_MBPP = (
    *(rf"{begin}\s*'(.*){close}\s*{done}" for close in ("'", "") for begin, done in _ENDS),
    *(rf"{begin}\s*(.*)\s*{done}" for begin, done in _ENDS),
    *(r"```python\s*(.*)\s*```", r"```\s*(.*)\s*```", r"```python\s*(.*)\s*", r"```\s*(.*)\s*"),
    *(r"(.*)\s*```.*", r"\[BEGIN\]\s*'(.*)", r"\[BEGIN\](.*)", r"'(.*)'\s*\[DONE\]"),
)


def mbpp(text: str) -> str:
    """Return the program between MBPP's few-shot marks or fences, up to a fence or an end mark inside it."""
    match = next((m for m in (re.search(p, text, re.DOTALL) for p in _MBPP) if m), None)
    return _before_done((match[1] if match else text).split("```")[0])


def mbpp_block(text: str) -> str:
    """Return the first fenced block, also one that is never closed, else the text between MBPP's few-shot marks."""
    if "```" not in text:
        return _before_done(re.split(r"\[?BEGIN\]?\s*", text)[-1]).removeprefix("'")
    return _before_done(_loose_block(text))


def _before_done(text: str) -> str:
    return re.split(r"'?\s*\[?DONE\]?", text)[0].replace("\\_", "_").strip()


def _loose_block(text: str) -> str:
    blocks: list[str] = re.findall(r"```(.*?)```", text, re.DOTALL)
    if not blocks:
        return text.split("```")[1]
    return blocks[0] if blocks[0].startswith("\n") else blocks[0][max(blocks[0].find("\n") + 1, 0) :]


def humaneval_body(text: str) -> str:
    """Return the body of the first function: fence, imports and ``def`` line cut, indented, ended where the indentation falls."""
    text = _unquoted(text)
    text = _loose_block(text) if "```" in text else text
    if re.match(r"\s*(?:from|import)", text) and (place := text.find("def")) >= 0:
        text = text[max(text.find("\n", place) + 1, 0) :]
    lines = [line for line in text.split("\n") if line]
    if "\n".join(lines).strip().startswith("def"):
        lines = lines[1:]
    body = "\n".join(lines)
    if not body.startswith("    "):
        body = "    " + body.lstrip() if body.startswith(" ") else "\n".join("    " + line for line in body.split("\n"))
    return "\n".join(_until_dedent(body.split("\n")))


def _until_dedent(lines: Sequence[str]) -> Sequence[str]:
    least: int | None = None
    for number, line in enumerate(lines):
        if not line.strip() or line.strip()[0] in "'\"#":
            continue
        indent = len(line.rstrip()) - len(line.strip())
        if least is not None and indent < least:
            return lines[:number]
        least = indent if least is None else least
    return lines


def _unquoted(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def indented_lines(text: str) -> str:
    """Return the leading lines that are blank or indented; three blanks at the start become four."""
    if text.startswith("   ") and not text.startswith("    "):
        text = " " + text
    kept: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith((" ", "\t")):
            break
        kept.append(line)
    return "\n".join(kept)


def cpp_program(text: str) -> str:
    """Return the text between the first fence and the last, else the stripped text if it looks like a program, else nothing."""
    match = re.search(r"```[\w+]*\s*\n(.*)\n\s*```", text, re.DOTALL)
    if match:
        return match[1].strip()
    return text.strip() if re.search(r"\b(?:def|class|int main|using namespace)\b|#include", text) else ""


def longest_cpp_block(text: str) -> str | None:
    """Return the longest fenced block that looks like C++, or None."""
    blocks = re.findall(r"```(?:cpp|c\+\+|cc|c)?\s*\n(.*?)```", text, re.DOTALL | re.IGNORECASE)
    programs = [block.strip() for block in blocks if re.search(r"#include|int\s+main|using\s+namespace", block)]
    return max(programs, key=len) if programs else None


def definitions(text: str) -> str:
    """Return imports, classes and returning functions of the longest run of lines that parses as Python, else that run.

    Raises:
        DataError: the run assigns at its top level, where the recorded version fails.
    """
    run = _longest_run(text)
    try:
        nodes = ast.parse(run).body
    except (SyntaxError, ValueError, MemoryError):
        return run
    if any(isinstance(node, ast.Assign) for node in nodes) and "\n" in run:
        raise DataError("this postprocessor takes no program that assigns at its top level")
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    kept = [node for node in nodes if _defines(node)]
    return "\n".join(ast.get_source_segment(run, node) or "" for node in [*imports, *kept]) or run


def _defines(node: ast.stmt) -> bool:
    returns = any(isinstance(part, ast.Return) for part in ast.walk(node))
    return isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and returns)


def _longest_run(text: str) -> str:
    lines = text.split("\n")
    best, run = 0, lines[0]
    for start in range(len(lines)):
        for end in range(start + 2, len(lines) + 1):
            size = sum(1 for line in lines[start:end] if line.strip())
            if size > best and _parses("\n".join(lines[start:end])):
                best, run = size, "\n".join(lines[start:end])
    return run


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True
