"""What rendering must know of a model."""

from __future__ import annotations

from dataclasses import dataclass

from leaderflow.core.types import Capability, Json, Mode, TokenCounter


@dataclass(frozen=True)
class Target:
    """What rendering must know of the model and of the way it is asked.

    `max_seq_len` and `max_out_len` count tokens. `chat_template` says that messages go through a tokenizer's chat template, which
    only ``compat: opencompass`` tells from an API.
    """

    accepts: frozenset[Capability]
    mode: Mode
    meta_template: Json = None
    max_seq_len: int | None = None
    max_out_len: int | None = None
    counter: TokenCounter | None = None
    chat_template: bool = False
