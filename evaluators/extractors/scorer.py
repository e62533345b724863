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
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from evaluators.extractors.features import PAIR, Shown, of_candidates, of_none
from evaluators.extractors.passage import Passage


@dataclass(frozen=True, slots=True)
class Weights:
    """Feature → nats, and sign → its partners in pairs → nats."""

    single: Mapping[str, float]
    paired: Mapping[str, Mapping[str, float]]


@cache
def weights(kind: str) -> Weights:
    """Return the weights of ``choice`` or ``number``: what both share, plus the kind's own."""
    fitted = json.loads(files("evaluators.extractors").joinpath("weights.json").read_text(encoding="utf-8"))
    single: dict[str, float] = {}
    paired: dict[str, dict[str, float]] = {}
    for part in (fitted["shared"], fitted[kind]):
        for name, weight in part.items():
            one, both, other = name.partition(PAIR)
            into, key = (paired.setdefault(one, {}), other) if both and "=" not in one else (single, name)
            into[key] = into.get(key, 0.0) + weight
    return Weights(single, paired)


def decide(passage: Passage, kind: str) -> int | None:
    """Return which of a passage's candidates states the answer; None where none does.

    Args:
        passage: with its candidates.
        kind: ``choice`` or ``number``.
    """
    if not passage.candidates:
        return None
    scores = score(of_candidates(passage, kind), kind)
    none = score([of_none(passage)], kind)[0]
    return choose([candidate.value for candidate in passage.candidates], scores, none)


def score(shown: Sequence[Shown], kind: str) -> list[float]:
    """Return the scores of candidates, or of none, in nats: the sums of the weights of all that is shown of them.

    The sums are exact but for their last rounding: the order in which sets give their features changes nothing.
    """
    get = weights(kind).single.get
    scores: list[float] = []
    around, of_around = None, 0.0
    for each in shown:
        if each.around is not around:
            around, of_around = each.around, math.fsum([get(name, 0.0) for name in each.around])
        scores.append(math.fsum([get(name, 0.0) for name in each.found]) + of_around + _of_signs(kind, each.signs))
    return scores


def choose(values: Sequence[str | None], scores: Sequence[float], none: float) -> int | None:
    """Return the place of the best candidate of the likeliest value; None where that is none or no value."""
    highest = max(none, *scores)
    mass: dict[str | None, float] = {None: math.exp(none - highest)}
    for value, score in zip(values, scores, strict=True):
        mass[value] = mass.get(value, 0.0) + math.exp(score - highest)
    best = max(mass, key=mass.__getitem__)
    return None if best is None else max((n for n, value in enumerate(values) if value == best), key=scores.__getitem__)


@lru_cache(maxsize=1 << 14)
def _of_signs(kind: str, signs: frozenset[str]) -> float:
    """Return the weight of signs and their pairs (`features.pairs`); the same ones come together again and again."""
    known, own = weights(kind), sorted(signs)
    total = math.fsum([known.single.get(sign, 0.0) for sign in own])
    for place, sign in enumerate(own):
        if partners := known.paired.get(sign):
            total += math.fsum([partners[other] for other in own[place + 1 :] if other in partners])
    return total
