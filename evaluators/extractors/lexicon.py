"""The words that a reader of answers goes by, in classes, in the languages that models answer in (`lexicon.txt`).

A class stands for what its words do in a statement. A word may be of several; the first one that lists it is its main one. What a
class weighs is no matter of the list: the weights are fitted (`scorer`).
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

_ENDINGS = ("s", "ed", "ing", "d", "es", "ly")
"""English endings that a word may have beside the listed form."""


def _read() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    name = ""
    for line in files("evaluators.extractors").joinpath("lexicon.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif not line.startswith("#"):
            for word in line.split():
                found.setdefault(word, {})[name] = None
    return {word: tuple(names) for word, names in found.items()}


_CLASSES = _read()
HAN_WORDS = sorted((word for word in _CLASSES if len(word) > 1 and "一" <= word[0] <= "鿿"), key=len, reverse=True)
"""Chinese words of several characters, the longest first: the writing does not part them."""


@lru_cache(maxsize=1 << 15)
def classes(token: str) -> tuple[str, ...]:
    """Return the classes of a word in lower case, the main one first; without its English ending where only that is known."""
    found = _CLASSES.get(token)
    if found is None and len(token) > 3 and token.isascii():
        for ending in _ENDINGS:
            stem = token.removesuffix(ending)
            if stem != token and (found := _CLASSES.get(stem) or _CLASSES.get(stem + "e") or _CLASSES.get(stem[:-1])):
                break
    return found or ()
