"""Text that came from a model, a file or a server, made safe to show."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

_SHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories that a terminal obeys or hides: controls, direction marks, lone surrogates, line and paragraph separators."""

_KEPT = frozenset("\n\t\u200c\u200d")
"""Line feed and tab, and the joiners that emoji and several scripts need."""


def printable(text: object, *, one_line: bool = False) -> str:
    r"""Return a text with everything that a terminal would obey written out, such as ``\x1b`` or ``\u202e``.

    Args:
        text: the text; anything else is shown by `str`.
        one_line: write line feeds and tabs out too.
    """
    value = str(text)
    if value.isascii() and value.isprintable():
        return value
    return "".join(_shown(character, one_line) for character in value)


def shortened(text: object, width: int) -> str:
    """Return a text as one printable line of at most `width` characters."""
    line = printable(" ".join(str(text).split()), one_line=True)
    return line if len(line) <= width else f"{line[: width - 1]}…"


def dollars(amount: float) -> str:
    """Return an amount of money with its unit: cents, and two digits of what is less than ten of them."""
    return f"{amount:.2f} USD" if amount >= 0.1 or not amount else f"{float(f'{amount:.2g}'):.12f}".rstrip("0") + " USD"


def reasoning_part(requests: Mapping[str, int]) -> str:
    """Return what of the output tokens was reasoning, such as `` (1,200 of them reasoning)``; nothing where nobody knows."""
    tokens = requests.get("reasoning_tokens")
    return "" if tokens is None else f" ({tokens:,} of them reasoning)"


def _shown(character: str, one_line: bool) -> str:
    if unicodedata.category(character) not in _SHOWN or (character in _KEPT and (not one_line or character not in "\n\t")):
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
