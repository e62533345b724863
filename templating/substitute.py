r"""Placeholders: how a row's values come into a template, what is blanked, and what may not show.

Our own rules: one pass, a value is never scanned again. ``{name}`` is a placeholder if it is a column of the row. A matched
``{{…}}`` means literal ``{…}``, so ``\boxed{{}}`` shows ``\boxed{}``; unmatched braces, ``{}`` and anything that is no name are
text. An unknown ``{name}`` is text as an argument of a ``\command`` and an error elsewhere. Values: text as it is, numbers by
``str()``, lists and dictionaries as JSON; a missing value is an error.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Collection

from leaderflow.core.errors import TemplateError, did_you_mean
from leaderflow.core.types import Json, Row

Fill = Callable[[str], str]
"""A template's text → the text with one row's values in it."""

_NAME = re.compile(r"[^\W\d]\w*")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\[\]]*\])?$")


def filler(row: Row, *, literal: bool, hidden: str | None = None) -> Fill:
    """Return the function that fills templates from `row`.

    Args:
        row: the row, columns in the source's order.
        literal: OpenCompass' replacement instead of our own rules.
        hidden: the answer column, where naming it would show the model the answer.
    """
    if literal:
        return functools.partial(replace_literally, row=row)
    return functools.partial(fill, row=row, columns=tuple(row), hidden=hidden)


def blanked(row: Row, answer: str | None) -> Row:
    """Return the row with its answer column empty: what a legacy template shows in generation."""
    return row if answer is None else {**row, answer: ""}


def fill(text: str, row: Row, columns: tuple[str, ...], hidden: str | None = None) -> str:
    """Fill one text by our own rules.

    Raises:
        TemplateError: an unknown placeholder, a column without a value, or the hidden column.
    """
    pieces = parse(text, columns)
    if len(pieces) == 1:
        return pieces[0]
    if hidden is not None and hidden in pieces[1::2]:
        raise TemplateError(leak(hidden))
    return "".join([shown(row[piece], piece) if odd % 2 else piece for odd, piece in enumerate(pieces)])


def leak(column: str) -> str:
    """Return the message about a prompt that would show the answer."""
    return (
        f"{{{column}}} is the output_column, so the prompt would show the model the answer; leave it to the ice_template, "
        f"or let `prepare` copy what the model may see to another column"
    )


def shown(value: Json, column: str) -> str:
    """Return a value as it stands in a prompt.

    Raises:
        TemplateError: the value is missing.
    """
    if isinstance(value, str):
        return value
    if value is None:
        raise TemplateError(f"column {column!r} has no value in this row; let `prepare` give it one or leave the row out")
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def replace_literally(text: str, row: Row) -> str:
    """Fill one text as OpenCompass does: ``str.replace`` of every column in turn, values by ``str()``."""
    for name, value in row.items():
        if "{" not in text:
            break
        if (placeholder := f"{{{name}}}") in text:
            text = text.replace(placeholder, str(value))
    return text


def fields_in(text: str, columns: Collection[str]) -> list[str]:
    """Return the placeholders of a text that name one of `columns`, unknown ones left out."""
    return [name for name in re.findall(r"\{([^{}]*)\}", text) if name in columns]


@functools.lru_cache(maxsize=4096)
def parse(text: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return literal, column, literal, column, …, literal.

    Raises:
        TemplateError: an unknown ``{name}`` that is no command's argument.
    """
    closing = _matching_braces(text)
    marks: list[tuple[int, int, str | None]] = []
    inner: set[int] = set()
    for position, close in sorted(closing.items()):
        name = text[position + 1 : close]
        if position in inner:
            continue
        if closing.get(position + 1) == close - 1:
            inner.add(position + 1)
            marks += [(position, position + 1, None), (close, close + 1, None)]
        elif name in columns:
            marks.append((position, close + 1, name))
        elif _NAME.fullmatch(name) and not _is_argument(text, position, closing):
            raise TemplateError(_unknown(name, columns))
    return _cut(text, sorted(marks))


def _cut(text: str, marks: list[tuple[int, int, str | None]]) -> tuple[str, ...]:
    pieces, start = [""], 0
    for begin, end, name in marks:
        pieces[-1] += text[start:begin]
        start = end
        if name is not None:
            pieces += [name, ""]
    pieces[-1] += text[start:]
    return tuple(pieces)


def _is_argument(text: str, position: int, closing: dict[int, int]) -> bool:
    r"""Say whether the brace at `position` opens an argument of a command, such as both of ``\frac{a}{b}``."""
    before = next((opening for opening, close in closing.items() if close == position - 1), None)
    if before is not None:
        return _is_argument(text, before, closing)
    return _COMMAND.search(text, 0, position) is not None


def _matching_braces(text: str) -> dict[int, int]:
    """Return opening position → closing position of all matched braces."""
    found, open_ = {}, []
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            open_.append(match.start())
        elif open_:
            found[open_.pop()] = match.start()
    return found


def _unknown(name: str, columns: Collection[str]) -> str:
    known = ", ".join(columns)
    return (
        f"{{{name}}} names no column{did_you_mean(name, columns)} (columns: {known}; for a literal {{{name}}} write {{{{{name}}}}})"
    )
