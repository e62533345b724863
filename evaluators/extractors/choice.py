"""The option, or options, that a reply states."""

from __future__ import annotations

from collections.abc import Iterator

from evaluators.extractors import scorer
from evaluators.extractors.options import Named, named
from evaluators.extractors.passage import Candidate, Passage, few, written
from evaluators.extractors.text import boxes, hide_reasoning, plain, turns
from leaderflow.core.types import Extraction


def choice_letter(text: str, options: str = "ABCD") -> Extraction:
    """Return the one option that a reply states, as written in `options`, or nothing.

    Every place that names an option is a candidate (`options.named`); `scorer` weighs what stands round each, and whether the reply
    states none at all. Options in reasoning, and in questions that a base model invents after its answer, are not read.

    Args:
        text: the reply.
        options: the labels, one character each.
    """
    return _extract(text, options, several=False)


def choice_letters(text: str, options: str = "ABCD") -> Extraction:
    """Return all options that a reply states together, joined in the order of `options` ("A, B and C" gives ``ABC``), or nothing.

    Args:
        text: the reply.
        options: the labels, one character each.
    """
    return _extract(text, options, several=True)


def passages(text: str, options: str, *, several: bool) -> Iterator[tuple[int, Passage]]:
    """Yield (offset, passage) for each turn of a reply, the options it names as candidates."""
    raw = hide_reasoning(text)
    for offset, part in turns(plain(raw)):
        held = boxes(part)
        shown = raw[offset : offset + len(part)]
        candidates = [
            Candidate(_value(group, options, several=several), group.start, group.end, written(shown, group.start, group.end, held))
            for group in few(named(part, options))
        ]
        yield offset, Passage(part, candidates)


def _value(group: Named, options: str, *, several: bool) -> str | None:
    if len(group.labels) == 1 and not (group.either and several):
        return group.labels
    return "".join(sorted(group.labels, key=options.find)) if several and not group.either else None


def _extract(text: str, options: str, *, several: bool) -> Extraction:
    for offset, passage in passages(text, options, several=several):
        if (best := scorer.decide(passage, "choice")) is not None:
            found = passage.candidates[best]
            return Extraction(found.value, offset + found.start, offset + found.end)
    return Extraction(None)
