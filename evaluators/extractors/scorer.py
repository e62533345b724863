"""Which candidate a passage states as its answer: a log-linear model over the candidates and none.

Every feature (`features`) has a weight; a candidate's score is the sum of its features' weights, and so is that of none. Candidates
of the same value count together: P(value) is the share of their exponentials in all. The likeliest value is the answer; among its
candidates, the one that scores most says where it stands. The weights are fitted to labelled answers by ``python -m
tests.evaluators.corpus.fit``; how well they read answers by writers they were not fitted to stands in that folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from evaluators.extractors.features import Shown, of_candidates, of_none, pairs
from evaluators.extractors.passage import Passage


@cache
def weights(kind: str) -> Mapping[str, float]:
    """Return the weights of ``choice`` or ``number``, feature → nats: what both share, plus the kind's own."""
    text = files("evaluators.extractors").joinpath("weights.json").read_text(encoding="utf-8")
    fitted = json.loads(text)
    own = dict(fitted["shared"])
    for name, weight in fitted[kind].items():
        own[name] = own.get(name, 0.0) + weight
    return own


def decide(passage: Passage, kind: str) -> int | None:
    """Return which of a passage's candidates states the answer; None where none does.

    Args:
        passage: with its candidates.
        kind: ``choice`` or ``number``.
    """
    if not passage.candidates:
        return None
    weight = weights(kind)
    scores = [_score(kind, weight, shown) for shown in of_candidates(passage, kind)]
    return choose([candidate.value for candidate in passage.candidates], scores, _score(kind, weight, of_none(passage)))


def choose(values: Sequence[str | None], scores: Sequence[float], none: float) -> int | None:
    """Return the place of the best candidate of the likeliest value; None where that is none or no value."""
    highest = max(none, *scores)
    mass: dict[str | None, float] = {None: math.exp(none - highest)}
    for value, score in zip(values, scores, strict=True):
        mass[value] = mass.get(value, 0.0) + math.exp(score - highest)
    best = max(mass, key=mass.__getitem__)
    return None if best is None else max((n for n, value in enumerate(values) if value == best), key=scores.__getitem__)


def _score(kind: str, weight: Mapping[str, float], shown: Shown) -> float:
    get = weight.get
    return sum([get(name, 0.0) for name in shown.found]) + _of_signs(kind, shown.signs)


@lru_cache(maxsize=1 << 14)
def _of_signs(kind: str, signs: frozenset[str]) -> float:
    """Return the weight of signs and their pairs; the same ones come together again and again."""
    get = weights(kind).get
    return sum(get(name, 0.0) for name in pairs(signs))
