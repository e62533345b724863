"""How the label of a sample is chosen from the likelihoods of its labels (PPL, LL, CLP).

`choice` comes from the inferencer. A smaller number is better; ties go to the label that stands first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.types import Json

Line = Mapping[str, Any]
"""One row of the infer table."""


def choose(lines: Sequence[Line], choice: str) -> Json:
    """Return the chosen label, or the list of probabilities for ``probabilities``.

    Args:
        lines: the answered rows of one sample × repeat, labels in order; several parts may share a label.
        choice: ``token_mean`` (least mean loss a token, PPLInferencer), ``sum`` (least total loss, LLInferencer), ``difference``
            (least mean loss a token of part 0 minus part 1, the neutral context of normalizing_str), ``measured`` (the least of the
            numbers that the inferencer computed, in `output`) or ``probabilities`` (softmax
            over the labels' total log-likelihoods, CLPInferencer).

    Raises:
        SpecError: an unknown choice.
    """
    labels: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda line: line["part"] or 0):
        labels.setdefault(line["label"], []).append(line)
    order = list(dict.fromkeys(line["label"] for line in lines))
    if choice == "probabilities":
        return _softmax([-labels[label][0]["nll"] for label in order])
    if choice not in LOSSES:
        raise SpecError(f"unknown choice among labels {choice!r}{did_you_mean(choice, LOSSES)}")
    return min(order, key=lambda label: LOSSES[choice](labels[label]))


def token_mean(line: Line) -> float:
    """Return the mean loss a token in nats; a continuation without tokens costs nothing."""
    return float(line["nll"]) / max(1, line["scored_tokens"] or 0)


def _difference(parts: Sequence[Line]) -> float:
    return token_mean(parts[0]) - token_mean(parts[1])


LOSSES: Mapping[str, Callable[[Sequence[Line]], float]] = {
    "token_mean": lambda parts: token_mean(parts[0]),
    "sum": lambda parts: float(parts[0]["nll"]),
    "difference": _difference,
    "measured": lambda parts: float(parts[0]["output"]),
}


def _softmax(logits: Sequence[float]) -> list[float]:
    top = max(logits)
    powers = [math.exp(value - top) for value in logits]
    return [power / sum(powers) for power in powers]
