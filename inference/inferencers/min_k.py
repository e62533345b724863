"""Min-K %: the loss on a text's least likely tokens, which tells texts that a model was trained on (Shi et al. 2023)."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from inference.inferencers.base import LikelihoodInferencer
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Answer, Request


class MinKPercentInferencer(LikelihoodInferencer):
    """Scores each text; what is extracted is the mean loss in nats over the `k` percent of its tokens that are least likely.

    Args:
        k: percent of the tokens, rounded up to whole tokens.

    Raises:
        SpecError: a share that is not above 0 and at most 100.
    """

    def __init__(self, k: float = 20.0) -> None:
        if not 0 < k <= 100:
            raise SpecError(f"must be above 0 and at most 100, got {k!r}", key="inferencer.k")
        self._share = k / 100

    def measured(self, request: Request, answer: Answer) -> Answer:
        """Return the answer with the mean loss of the least likely tokens as its output."""
        losses = sorted((-value for value in answer.token_logprobs or ()), reverse=True)
        worst = losses[: max(1, math.ceil(len(losses) * self._share))]
        return replace(answer, output=json.dumps(math.fsum(worst) / len(worst))) if worst else answer
