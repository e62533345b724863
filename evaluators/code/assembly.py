"""Puts a prompt and what the model wrote together: a whole function, or only its body."""

from __future__ import annotations

import re
import textwrap


def completions(prompt: str, code: str, name: str) -> tuple[str, ...]:
    """Return the ways to read `code` as the function that `prompt` begins, the likeliest first; the first that compiles counts.

    Code that defines the function is whole: it follows the prompt, whose imports and helpers it may use. Else it is the body, as it
    stands, or with its first or all of its lines indented.

    Args:
        prompt: imports, helpers, signature and docstring.
        code: the model's code, without fences.
        name: the function.
    """
    joined = prompt if prompt.endswith("\n") else prompt + "\n"
    body = [
        prompt + code,
        joined + code,
        joined + textwrap.indent(textwrap.dedent(code), "    "),
        joined + "    " + code.lstrip(),
    ]
    if not defines(code, name):
        return tuple(dict.fromkeys(body))
    whole = textwrap.dedent(code)
    return tuple(dict.fromkeys([f"{joined}    pass\n{whole}", f"{joined}\n{whole}", whole, *body]))


def defines(code: str, name: str) -> bool:
    """Return whether `code` defines the Python function or name at its outermost level."""
    pattern = rf"^(?:(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b|{re.escape(name)}[ \t]*=[^=])"
    return re.search(pattern, textwrap.dedent(code), re.MULTILINE) is not None


def defined(code: str) -> tuple[str, ...]:
    """Return the functions and classes that Python code defines at its top level."""
    return tuple(dict.fromkeys(re.findall(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", code, re.MULTILINE)))
