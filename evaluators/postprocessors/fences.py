"""Recorded postprocessors of program text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from evaluators.syntax import literal, parsed
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


_BEGINS, _DONES = ("[BEGIN]", "BEGIN"), ("[DONE]", "DONE")
_QUOTES = (("'", "'"), ("'", ""), ("", ""))
"""What opens and closes the program between the marks: quoted, a quotation that is never closed, or plain."""


def _shot(text: str) -> str | None:
    """Return what stands between the marks of MBPP's few-shot examples, from the first that fits to the last."""
    for opening, closing in _QUOTES:
        for done in _DONES:
            for begin in _BEGINS:
                inside = rf"{re.escape(begin)}\s*{opening}(.*){closing}\s*{re.escape(done)}"
                if match := re.search(inside, text, re.DOTALL):
                    return match[1]
    return None


def _open_fence(text: str) -> str | None:
    """Return what follows the first Python fence, or else any fence, up to the last fence."""
    for closing in (r"\s*```", ""):
        for label in ("python", ""):
            if match := re.search(rf"```{label}\s*(.*){closing}", text, re.DOTALL):
                return match[1]
    return None


def _half_marked(text: str) -> str | None:
    """Return what follows a begin mark that nothing ends, or precedes an end mark that nothing begins."""
    for half in (r"\[BEGIN\]\s*'(.*)", r"\[BEGIN\](.*)", r"'(.*)'\s*\[DONE\]"):
        if match := re.search(half, text, re.DOTALL):
            return match[1]
    return None


def mbpp(text: str) -> str:
    """Return the program between MBPP's few-shot marks or fences, up to a fence or an end mark inside it."""
    found = (read(text) for read in (_shot, _open_fence, _half_marked))
    program = next((part for part in found if part is not None), text)
    return _before_done(program.split("```")[0])


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
    code = _unquoted(text)
    code = _past_imports(_loose_block(code) if "```" in code else code)
    lines = [line for line in code.split("\n") if line]
    first = next((line.strip() for line in lines if line.strip()), "")
    return "\n".join(_one_level(_indented(lines[1:] if first.startswith("def") else lines)))


def _past_imports(code: str) -> str:
    """Return what follows the line with the first ``def``, in code that begins with an import; other code as it is."""
    imports, rest = re.match(r"\s*(?:from|import)", code), code.partition("def")[2]
    return rest.partition("\n")[2] if imports and "\n" in rest else code


def _indented(lines: Sequence[str]) -> list[str]:
    """Return lines as a body: four blanks deep, where they are not yet; one that is less indented is moved alone."""
    body = "\n".join(lines)
    if body.startswith("    "):
        return body.split("\n")
    if body.startswith(" "):
        return f"    {body.lstrip()}".split("\n")
    return [f"    {line}" for line in body.split("\n")]


def _one_level(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines until one of code is less indented than the first one of code."""
    floor: int | None = None
    for line in lines:
        bare = line.strip()
        if bare and bare[0] not in "'\"#":
            depth = len(line.rstrip()) - len(bare)
            floor = depth if floor is None else floor
            if depth < floor:
                return
        yield line


def _unquoted(text: str) -> str:
    try:
        value = literal(text)
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
        nodes = parsed(run).body
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
        parsed(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True
