"""The model's loss on each text, with nothing to choose from."""

from __future__ import annotations

from inference.inferencers.base import LikelihoodInferencer


class PPLOnlyInferencer(LikelihoodInferencer):
    """Scores each text; what is extracted is its loss per token in nats (perplexity is its exponential)."""
