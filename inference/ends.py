"""What ends a model's turn by its meta_template: texts, which are stop strings, and tokens."""

from __future__ import annotations

from leaderflow.core.types import Json


def ends_of_turn(meta_template: Json) -> tuple[str, ...]:
    """Return the texts that end the model's turn in a meta_template, without the blanks around them.

    An end of nothing but blanks is left out: as a stop it would cut every answer after its first line.
    """
    if not isinstance(meta_template, dict):
        return ()
    turns = [meta_template.get(name) for name in ("round", "reserved_roles")]
    roles = [role for part in turns if isinstance(part, list) for role in part if isinstance(role, dict)]
    ends = [role.get("end") for role in roles if role.get("generate")]
    return tuple(dict.fromkeys(end.strip() for end in ends if isinstance(end, str) and end.strip()))


def end_tokens(meta_template: Json) -> list[int]:
    """Return the `eos_token_id` of a meta_template: ids that end the model's turn beside the tokenizer's own."""
    found = meta_template.get("eos_token_id") if isinstance(meta_template, dict) else None
    return [] if found is None else [int(token) for token in (found if isinstance(found, list) else [found])]
