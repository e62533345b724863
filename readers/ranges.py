"""Which rows of a split are used: ``train_range`` and ``test_range``.

None is all rows, an integer a drawn number, a fraction a drawn share, a text such as ``[:100]`` an interval in the source's order,
a list row positions. Slices are parsed, never evaluated.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Sequence

from leaderflow.core.errors import SpecError, UsageError
from leaderflow.core.specs import Compat, Range

_SLICE = re.compile(r"\s*\[([^\[\]]*)\]\s*")
_INTEGER = re.compile(r"[+-]?\s*(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9_]+)")
_WORDS = {"": None, "None": None, "True": 1, "False": 0}


def select(ids: Sequence[str], wanted: Range, *, seed: int = 0, compat: Compat | None = None, key: str = "range") -> list[int]:
    """Return the positions of the rows that a range selects, in the order in which they are used.

    A native draw ranks the rows by a hash of seed and sample id: 100 drawn rows are the first of 200 drawn ones, and a row added to
    the source displaces one row at most. Under ``compat: opencompass`` the shuffle is seeded by the count, as recorded, so that
    two counts share rows only by chance, and a count that is not between 0 and the size means all rows.

    Args:
        ids: the sample ids of the whole split, in the source's order.
        wanted: the range.
        seed: seeds the native draw.
        compat: whose semantics.
        key: where the range stands in the spec, for the message.

    Raises:
        UsageError: the range is none of the kinds, or a position is outside the split.
    """
    if wanted is None or (wanted == "" and compat):
        return list(range(len(ids)))
    if isinstance(wanted, str):
        return _sliced(len(ids), parse_slices(wanted, key))
    if isinstance(wanted, int | float):
        return _recorded_draw(len(ids), wanted, key) if compat else _draw(ids, _count(len(ids), wanted, key), seed)
    if isinstance(wanted, list) and not compat:
        return _positions(len(ids), wanted, key)
    raise SpecError(f"{wanted!r} is no range: give nothing, a number, a fraction or a slice such as '[:100]'", key=key)


def parse_slices(text: str, key: str = "range") -> list[slice]:
    """Return the slices of a text such as ``[:100]`` or ``[100:300][0:50]``.

    Raises:
        SpecError: the text is anything else.
    """
    slices, at = [], 0
    while match := _SLICE.match(text, at):
        slices.append(_slice(match[1], text, key))
        at = match.end()
    if at < len(text) or not slices:
        raise _no_slice(text, key)
    return slices


def _slice(body: str, text: str, key: str) -> slice:
    parts = [_bound(part.strip(), text, key) for part in body.split(":")]
    if not 2 <= len(parts) <= 3:
        raise _no_slice(text, key)
    if parts[2:] == [0]:
        raise SpecError(f"{text!r} has the step 0", key=key)
    return slice(*parts)


def _bound(part: str, text: str, key: str) -> int | None:
    if part in _WORDS:
        return _WORDS[part]
    if not _INTEGER.fullmatch(part):
        raise _no_slice(text, key)
    try:
        return int(part.replace(" ", ""), 0)
    except ValueError:
        raise _no_slice(text, key) from None


def _no_slice(text: str, key: str) -> UsageError:
    return SpecError(f"{text!r} is no slice: write it like '[:100]', '[100:200]' or '[-50:]'", key=key)


def _sliced(size: int, slices: list[slice]) -> list[int]:
    positions: Sequence[int] = range(size)
    for part in slices:
        positions = positions[part]
    return list(positions)


def _count(size: int, wanted: float, key: str) -> int:
    if isinstance(wanted, int) and wanted >= 0:
        return min(wanted, size)
    if isinstance(wanted, float) and 0 < wanted <= 1:
        return math.floor(wanted * size)
    raise SpecError(f"{wanted!r} is no range: a number must be whole and not negative, a fraction between 0 and 1", key=key)


def _draw(ids: Sequence[str], count: int, seed: int) -> list[int]:
    if count == len(ids):
        return list(range(count))
    ranks = [hashlib.sha256(f"{seed}:{name}".encode("utf-8", "surrogatepass")).digest() for name in ids]
    return sorted(range(len(ids)), key=ranks.__getitem__)[:count]


def _recorded_draw(size: int, wanted: float, key: str) -> list[int]:
    positions = list(range(size))
    if wanted >= size or wanted <= 0:
        return positions
    count = int(size * wanted) if 0 < wanted < 1 else wanted
    if isinstance(count, float):
        raise SpecError(f"{wanted!r} is no range: a number must be whole, a fraction between 0 and 1", key=key)
    random.Random(int(count)).shuffle(positions)
    return positions[:count]


def _positions(size: int, wanted: list[int], key: str) -> list[int]:
    for position in wanted:
        if not 0 <= position < size:
            raise UsageError(f"{key}: there is no row {position}: the split has {size} rows, counted from 0")
    if len(set(wanted)) < len(wanted):
        raise SpecError("names a row twice", key=key)
    return list(wanted)
