"""Perplexity: the candidate whose whole text the model finds most likely, token for token, is the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from inference.inferencers.base import LikelihoodInferencer
from leaderflow.core.errors import SpecError, did_you_mean

Choice = Literal["token_mean", "sum"]


class PPLInferencer(LikelihoodInferencer):
    """Scores every candidate's text; the least mean loss wins, ties go to the first label.

    Args:
        labels: the candidates, where they are not the keys of the template's mapping.
        choice: what is compared: ``token_mean`` (as documented: perplexity, the loss per token) or ``sum`` (the likelihood itself).

    Raises:
        SpecError: no labels in `labels`, one of them twice, or an unknown choice.
    """

    def __init__(self, labels: Sequence[str] | None = None, choice: Choice = "token_mean") -> None:
        if choice not in get_args(Choice):
            raise SpecError(f"unknown choice {choice!r}{did_you_mean(choice, get_args(Choice))}", key="inferencer.choice")
        self.labels = None if labels is None else checked_labels(labels, "labels")
        self.choice = choice


def checked_labels(labels: Sequence[str], name: str) -> list[str]:
    """Return labels as texts.

    Raises:
        SpecError: there are none, or one of them stands there twice.
    """
    found = [str(label) for label in labels]
    if not found or len(set(found)) < len(found):
        raise SpecError(f"{name} must be distinct, and at least one", key=f"inferencer.{name}")
    return found
