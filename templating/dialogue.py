"""What a legacy template renders to before the model's meta_template: blocks of role turns and bare strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leaderflow.core.types import Json
from templating.compat import Rules

Item = str | dict[str, Json]
"""A bare string, or a turn ``{role, prompt, fallback_role?, …}``."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive items of one section; `ice` holds the turns of one in-context example."""

    section: Literal["begin", "round", "ice", "end"]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A rendered legacy dialogue."""

    blocks: tuple[Block, ...]

    def joined(self, rules: Rules) -> str:
        """Return the dialogue as text for a model without a meta_template: what is not empty, joined by one newline."""
        texts = [item if isinstance(item, str) else item.get("prompt", "") for block in self.blocks for item in block.items]
        if rules.recorded_joins and texts and not texts[0] and any(texts):
            return "\n" + "\n".join(text for text in texts if text)
        return "\n".join(text for text in texts if text)
