from __future__ import annotations

from enum import Enum
from typing import Any

KNOWN = {
    "max_tokens", "min_tokens", "temperature", "top_p", "top_k", "seed", "stop", "stop_token_ids", "prompt_logprobs",
    "repetition_penalty", "logit_bias", "structured_outputs", "output_kind",
}  # fmt: skip


class RequestOutputKind(Enum):
    FINAL_ONLY = 2


class StructuredOutputsParams:
    def __init__(self, **named: Any) -> None:
        self.named = named


class SamplingParams:
    def __init__(self, **named: Any) -> None:
        if unknown := set(named) - KNOWN:
            raise TypeError(f"Unexpected keyword argument {min(unknown)!r}")
        self.__dict__.update(named)
