"""A part of a reply as tokens and sentences, with the candidates for its answer among them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from evaluators.extractors.lexicon import HAN_WORDS, classes

T = TypeVar("T")
CANDIDATE = "<c>"
"""The token that stands for a candidate."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be the answer, at [start, end) of a passage's text.

    `value` is what counts as the same answer, None where it cannot be one (two options joined by "or"). `written` is how it is set
    off: ``bold``, ``box``, ``hash`` (after ``####``), ``json`` (a key's value), ``tag=NAME``.
    """

    value: str | None
    start: int
    end: int
    written: tuple[str, ...] = ()


_FIRST, _LAST = 10, 60
NUMBER = "<n>"
"""The token that stands for a number that is no candidate."""
_MARKS = r"'(?:s|d|ll|re|ve|m)\b|\n\s*|\d+(?:[.,:]\d+)*|\.[^\W_]+|[^\w\s]|_"
_ASCII_TOKEN = re.compile(rf"[a-z]+|{_MARKS}")
_TOKEN = re.compile(
    rf"[^\W\d_\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+|{_MARKS}|"
    + "|".join(HAN_WORDS)
    + r"|[\u4e00-\u9fff]|[\u3040-\u30ff]+|[\uac00-\ud7af]+"
)
"""A word, a number, a mark; a point and what follows it without a blank are one, so that a point alone ends a sentence."""
_CHECKBOX = re.compile(r"\[([xX✓✔ ])\](?=\s*[A-Z*(])")
STOPS = frozenset("!?。！？;；\n") | {"\n\n"}
"""Tokens that end a sentence wherever they stand; a point does unless it belongs to the mark of a list item."""


def few(found: list[T]) -> list[T]:
    """Return the first ten and the last sixty of what may be candidates: a bound for replies that loop."""
    return found if len(found) <= _FIRST + _LAST else found[:_FIRST] + found[-_LAST:]


class Sentence:
    """The tokens [start, end) of a passage: its words, the mark that ends it, and its candidates by number."""

    def __init__(self, passage: Passage, start: int, end: int, words: list[str]) -> None:
        """Read the sentence; `words` are its tokens without marks."""
        self.start, self.end, self.words = start, end, words
        last = passage.tokens[end - 1]
        self.mark = last if last in STOPS or last == "." else ""
        self.classes: set[str] = set().union(*passage.classes[start:end])
        self.candidates: list[int] = []


class Passage:
    r"""A text in tokens; lower case, line ends as ``\n``, empty lines as ``\n\n``."""

    def __init__(self, text: str, candidates: Sequence[Candidate]) -> None:
        """Cut a text into tokens and sentences.

        Args:
            text: a plain view (`text.plain`).
            candidates: in order, none overlapping another.
        """
        self.text, self.candidates = text, candidates
        self.tokens: list[str] = []
        self.places: list[int] = []
        """The token of each candidate."""
        self._tokenise()
        self.classes = list(map(classes, self.tokens))
        """The classes of each token."""
        self.stems = list(map(stem, self.tokens))
        """The beginning of each token, which its forms share."""
        self.sentences: list[Sentence] = []
        """Those that hold a word or a candidate."""
        self.sentence_of: list[int] = []
        """The sentence of each candidate."""
        self._cut()

    @cached_property
    def last_gap(self) -> int:
        """The place of the last empty line; -1 where there is none."""
        return max((place for place, token in enumerate(self.tokens) if token == "\n\n"), default=-1)

    @cached_property
    def is_cut(self) -> bool:
        """Whether the text breaks off: its last token closes nothing."""
        last = self.tokens[-1] if self.tokens else "."
        return last not in _CLOSED and last != CANDIDATE and last[0] != "\n"

    def _tokenise(self) -> None:
        text = self.text
        if "[" in text:
            text = _CHECKBOX.sub(lambda box: " ☐ " if box[1] == " " else " ☑ ", text)
        found = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall
        position = 0
        for candidate in (*self.candidates, None):
            gap = text[position : candidate.start if candidate else len(text)].lower()
            if "n't" in gap:
                gap = gap.replace("n't", " not ")
            self.tokens += [_tidied(token) if token[0] in "\n0123456789" else token for token in found(gap)]
            if candidate:
                self.places.append(len(self.tokens))
                self.tokens.append(CANDIDATE)
                position = candidate.end

    def _cut(self) -> None:
        tokens, places = self.tokens, self.places
        start = upcoming = 0
        for place, token in enumerate((*tokens, "\n")):
            if token not in STOPS and (token != "." or self._numbers_item(place)):
                continue
            end = min(place + 1, len(tokens))
            words = [each for each in tokens[start:end] if each[0].isalnum() or (each[0] == "<" and len(each) > 1)]
            if words:
                sentence = Sentence(self, start, end, words)
                while upcoming < len(places) and places[upcoming] < end:
                    self.sentence_of.append(len(self.sentences))
                    sentence.candidates.append(upcoming)
                    upcoming += 1
                self.sentences.append(sentence)
            start = end

    def _numbers_item(self, place: int) -> bool:
        """Return whether a point stands after what begins a line: "B. Paris", "2. Add them"."""
        tokens = self.tokens
        return bool(place) and tokens[place - 1] in (CANDIDATE, NUMBER) and (place == 1 or tokens[place - 2][0] == "\n")


def stem(token: str) -> str:
    """Return the beginning of a word, which its forms share; words of other scripts than ASCII whole."""
    return token[:5] if token.isascii() else token


def _tidied(token: str) -> str:
    """Return the token of a line end or a number."""
    return NUMBER if token[0] != "\n" else "\n" if token.count("\n") == 1 else "\n\n"


_CLOSED = frozenset('.!?。！？)]}"」】`*>;$')
"""What may end a reply that is not cut off."""
_TAG = re.compile(r"<(\w+)>\s*\Z")
_KEY = re.compile(r"\"\s*:\s*\"?\Z")


def written(raw: str, start: int, end: int, boxes: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return how what stands at [start, end) of a reply is set off (`Candidate.written`)."""
    before = raw[max(start - 12, 0) : start]
    found = []
    if "**" in before[-3:] or "**" in raw[end : end + 3]:
        found.append("bold")
    if boxes and any(opened <= start and end <= closed for opened, closed in boxes):
        found.append("box")
    if "####" in before:
        found.append("hash")
    if '"' in before and _KEY.search(before):
        found.append("json")
    if ">" in before and (tag := _TAG.search(before)):
        found.append(f"tag={tag[1].lower()}")
    return tuple(found)
