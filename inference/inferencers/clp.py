"""Conditional probabilities of given choices: how likely each is as the next thing the model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inference.inferencers.base import LikelihoodInferencer, rendered_prompt
from inference.inferencers.ppl import checked_labels
from leaderflow.core.types import Mode, Prompt


class CLPInferencer(LikelihoodInferencer):
    """Asks for the likelihood of each choice after the prompt; the prediction is the list of their probabilities, which sum to 1.

    A choice of several tokens counts with all of them: its probability is the product of theirs.

    Args:
        choices: what the model may say, in the order of the probabilities; by default the sorted distinct references.
        separator: stands between prompt and choice, such as a blank after ``Answer:``.

    Raises:
        SpecError: no choices, or one of them twice.
    """

    mode: Mode = "gen"
    choice: str | None = "probabilities"

    def __init__(self, choices: Sequence[str] | None = None, separator: str = "") -> None:
        self.labels = None if choices is None else checked_labels(choices, "choices")
        self._separator = separator

    def prompt(self, row: Mapping[str, Any]) -> Prompt:
        """Return the rendered prompt with the row's choice as its continuation."""
        rendered = rendered_prompt(row)
        return Prompt(messages=rendered.messages, text=rendered.text, continuation=f"{self._separator}{row['label']}")
