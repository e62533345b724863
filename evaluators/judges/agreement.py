"""How far judges agree with each other and with people: what a cell reports beside its score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any, ClassVar

from evaluators.base import Rating
from evaluators.judges.base import Judge, Verdict, Verdicts, majority
from evaluators.ratings import Ratings
from leaderflow.core.statistics import cohen_kappa, krippendorff_alpha

Ballot = Mapping[str, Any]
"""Rater → value, of one question. Raters are the judges, or the repeats of the only one; unreadable verdicts are left out."""


class Panel(Judge):
    """A judge whose ratings carry ballots, from which agreement is measured: `Rating.data` is a tuple that begins with them.

    Metrics: ``unreadable`` (share of verdicts that could not be read), and with several raters ``alpha`` (Krippendorff) and, for
    labels, ``kappa`` (Cohen; the mean over all pairs of raters). The ballots of several raters are held in memory.
    """

    interval: ClassVar[bool] = False

    @property
    def averages(self) -> bool:
        """Agreement is no mean over samples."""
        return False

    def unit(self, name: str) -> tuple[float | None, bool]:
        """Agreement lies below 1; fewer unreadable verdicts are better."""
        return {"alpha": (1.0, True), "kappa": (1.0, True), "unreadable": (100.0, False)}.get(name) or super().unit(name)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the means of the ratings and the agreement of the raters."""
        columns = Ratings.of(ratings)
        return super().combine(columns) | agreement([ballot for row in columns.data for ballot in row[0] or ()], self.interval)


def agreement(ballots: Sequence[Ballot], interval: bool) -> dict[str, float]:
    """Return ``alpha`` and ``kappa`` of some ballots, left out where they do not exist."""
    alpha = krippendorff_alpha([list(ballot.values()) for ballot in ballots], interval=interval)
    raters = sorted({rater for ballot in ballots for rater in ballot})
    pairs = [] if interval else [_pair(ballots, *pair) for pair in combinations(raters, 2)]
    kappas = [kappa for left, right in pairs if (kappa := cohen_kappa(left, right)) is not None]
    found = {"alpha": alpha, "kappa": fmean(kappas) if kappas else None}
    return {name: value for name, value in found.items() if value is not None}


def ballots(verdicts: Verdicts) -> list[Ballot] | None:
    """Return what each rater said to each question: a judge's majority over its repeats, or each repeat of the only judge.

    Questions to which only one rater said something are left out: they tell nothing about agreement.
    """
    return [ballot for given in verdicts.values() if len(ballot := _ballot(given)) > 1] or None


def unreadable(verdicts: Verdicts) -> dict[str, float]:
    """Return the share of verdicts that cannot be read, nothing where there is no verdict."""
    values = [verdict.value is None for given in verdicts.values() for verdict in given]
    return {"unreadable": fmean(values)} if values else {}


def _ballot(given: Iterable[Verdict]) -> dict[str, Any]:
    by_judge: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in given:
        by_judge[verdict.judge].append(verdict)
    if len(by_judge) == 1:
        alone = next(iter(by_judge.values()))
        return {str(verdict.repeat): verdict.value for verdict in alone if verdict.value is not None}
    votes = {judge: majority([v.value for v in own if v.value is not None]) for judge, own in by_judge.items()}
    return {judge: vote for judge, vote in votes.items() if vote is not None}


def _pair(ballots: Sequence[Ballot], left: str, right: str) -> tuple[list[Hashable], list[Hashable]]:
    both = [(ballot[left], ballot[right]) for ballot in ballots if left in ballot and right in ballot]
    return [a for a, _ in both], [b for _, b in both]
