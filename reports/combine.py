"""How the members of a summary group make one number, and what their errors make of its error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from leaderflow.core.expression import Formula, formula
from leaderflow.core.specs import SummaryGroup

T = TypeVar("T")

Way = Literal["standard_deviation", "sum", "weighted_average", "harmonic_mean", "naive_average"]

Member = tuple[str, str]
"""The name of a dataset or group, and a metric of it."""

_STEP = 1e-3


def way_of(group: SummaryGroup) -> Way:
    """Return how a group's members are combined; where several are asked for, the first of std, sum, weights, harmonic_mean."""
    if group.std:
        return "standard_deviation"
    if group.sum:
        return "sum"
    if group.weights:
        return "weighted_average"
    return "harmonic_mean" if group.harmonic_mean else "naive_average"


@dataclass(frozen=True)
class Combination:
    """A function of the members' values.

    Transforms come first. `standard_deviation` is that of the population; `sum` is weighted where there are weights.
    """

    way: Way
    weights: Mapping[str, float] | None
    transforms: Mapping[str, Formula]

    @classmethod
    def of(cls, group: SummaryGroup, way: Way) -> Combination:
        """Return the combination that a group asks for."""
        return cls(way, group.weights or None, {name: formula(text) for name, text in (group.transforms or {}).items()})

    def transforms_any(self, members: Sequence[Member]) -> bool:
        """Say whether a member's unit is changed."""
        return any(_named(self.transforms, member) for member in members)

    def __call__(self, values: Mapping[Member, float]) -> float:
        """Return the combined value.

        Raises:
            ValueError: there is none, such as the harmonic mean of a value that is not positive.
            ArithmeticError: a transform has no value there.
        """
        changed = {member: self._transformed(member, value) for member, value in values.items()}
        numbers = list(changed.values())
        if self.way == "standard_deviation":
            mean = sum(numbers) / len(numbers)
            return math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))
        if self.way == "harmonic_mean":
            if any(number <= 0 for number in numbers):
                raise ValueError("a harmonic mean needs positive values")
            return len(numbers) / sum(1 / number for number in numbers)
        weights = self._weights(list(changed))
        total = sum(weights[member] * number for member, number in changed.items() if weights[member])
        return total if self.way == "sum" else total / sum(weights.values())

    def _transformed(self, member: Member, value: float) -> float:
        change = _named(self.transforms, member)
        return change(value) if change else value

    def _weights(self, members: Sequence[Member]) -> dict[Member, float]:
        if self.weights is None:
            return dict.fromkeys(members, 1.0)
        found = {member: _named(self.weights, member) or 0.0 for member in members}
        if self.way != "sum" and not sum(found.values()):
            raise ValueError("no weight is given for these metrics")
        return found


def propagated(
    combination: Combination, values: Mapping[Member, float], errors: Mapping[Member, Mapping[str, float]]
) -> dict[str, float] | None:
    """Return what each dataset's standard error adds to that of the combined value, to first order, or None where it has no slope.

    Datasets are independent of each other; one that stands behind several members (nested groups, two metrics) moves them
    together. The combined standard error is the root of the sum of squares.
    """

    def moved(dataset: str, step: float) -> float:
        return combination({member: value + step * errors[member].get(dataset, 0.0) for member, value in values.items()})

    if combination.way == "standard_deviation" and not combination(values):
        return None
    datasets = dict.fromkeys(name for own in errors.values() for name in own)
    try:
        return {name: (moved(name, _STEP) - moved(name, -_STEP)) / (2 * _STEP) for name in datasets}
    except (ArithmeticError, ValueError):
        return None


def _named(by_name: Mapping[str, T], member: Member) -> T | None:
    found = by_name.get("@".join(member))
    return by_name.get(member[0]) if found is None else found
