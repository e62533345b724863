"""What rendering must know of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leaderflow.core.types import Capability, Json, Mode, TokenCounter

Truncate = Literal["left", "middle"]
"""Where a target that is too long is cut, if that is asked for."""


@dataclass(frozen=True)
class Target:
    """What rendering must know of the model and of the way it is asked.

    `max_seq_len` and `max_out_len` count tokens. `chat_template` says that messages go through a tokenizer's chat template, which
    only ``compat: opencompass`` tells from an API. `truncate` says where a target that does not fit is cut in generation;
    by default it is rejected.
    """

    accepts: frozenset[Capability]
    mode: Mode
    meta_template: Json = None
    max_seq_len: int | None = None
    max_out_len: int | None = None
    counter: TokenCounter | None = None
    chat_template: bool = False
    truncate: Truncate | None = None
