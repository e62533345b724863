"""Log-likelihood: the continuation that is most likely as a whole is the answer."""

from __future__ import annotations

from inference.inferencers.ppl import NEUTRAL, Choice, PPLInferencer


class LLInferencer(PPLInferencer):
    """Scores each candidate's continuation of the common context; the greatest sum wins, so longer ones are not favoured.

    Args:
        labels: as for PPLInferencer.
        choice: as for PPLInferencer; here ``sum`` by default.
        neutral: as for PPLInferencer.
    """

    def __init__(self, labels: list[str] | None = None, choice: Choice = "sum", neutral: str = NEUTRAL) -> None:
        super().__init__(labels, choice, neutral)
