"""What ends the model's turn, as a meta_template says it: texts and token ids."""

from __future__ import annotations

from leaderflow.core.errors import SpecError
from leaderflow.core.types import Json


def end_texts(meta_template: Json) -> tuple[str, ...]:
    """Return the texts that end the model's turn in a meta_template, without the blanks around them.

    An end of nothing but blanks is left out: as a stop it would cut every answer after its first line.
    """
    if not isinstance(meta_template, dict):
        return ()
    turns = [meta_template.get(name) for name in ("round", "reserved_roles")]
    roles = [role for part in turns if isinstance(part, list) for role in part if isinstance(role, dict)]
    ends = [role.get("end") for role in roles if role.get("generate")]
    return tuple(dict.fromkeys(end.strip() for end in ends if isinstance(end, str) and end.strip()))


def end_ids(meta_template: Json) -> tuple[int, ...]:
    """Return the `eos_token_id` of a meta_template, one or several.

    Raises:
        SpecError: something that is no token id.
    """
    found = meta_template.get("eos_token_id") if isinstance(meta_template, dict) else None
    ids = found if isinstance(found, list) else [] if found is None else [found]
    if bad := [item for item in ids if isinstance(item, bool) or not isinstance(item, int) or item < 0]:
        raise SpecError(f"must be a token id or a list of them, got {bad[0]!r}", key="meta_template.eos_token_id")
    return tuple(ids)
