"""The switch between the two semantics, and the list of what it changes.

The documents decide how a template reads; ``compat: opencompass`` on a dataset asks for the recorded behaviour of OpenCompass
instead, so that scores can be compared. What differs in rendering is a field of `Rules`; nothing else asks which semantics holds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from leaderflow.core.specs import Compat


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs. Every field is False in our own semantics and True under ``compat: opencompass``."""

    recorded_retrieval: bool = False
    """Retrievers keep OpenCompass' random streams, order of ties and negative positions; a sample may be its own example."""
    literal_fields: bool = False
    """``{name}`` is replaced column after column in the row's order, so a value may be scanned again; there is no escape, unknown
    placeholders stay, values are shown by ``str()``."""
    examples_take_target_fields: bool = False
    """Placeholders that are left in a rendered example are filled from the sample's row."""
    answer_may_show: bool = False
    """A target prompt may name the answer column; only a legacy template in generation blanks it."""
    lenient_templates: bool = False
    """A template without messages, foreign strings among messages, an ``expand_column`` that is absent or no list, an ice_token
    that occurs nowhere, and candidates that all read the same pass in silence."""
    recorded_joins: bool = False
    """Separators follow every string example although there is none, and stand between the examples of a label map of dialogues;
    an empty first item of a dialogue leaves a newline."""
    full_rounds: bool = False
    """Every role of the model's round appears in every round, empty where the dialogue has none; equal neighbours are joined by a
    newline even if one is empty; a bare string of a round comes before it; a reserved role's message inside a round is lost."""
    bare_text_lost: bool = False
    """A bare string in a dialogue is left out for models that take messages."""
    forms_may_mix: bool = False
    """A meta_template of the form that does not go with the template is ignored; a role may have both api_role and begin or end."""
    chat_default: bool = False
    """Without a meta_template, a legacy dialogue reaches a tokenizer's chat template by a default one, which makes SYSTEM a user
    turn; empty turns are dropped and equal neighbours joined again."""
    length_is_prompt: bool = False
    """The window is compared with the prompt alone, without room for the output, and a target that is too long is asked anyway."""


NATIVE = Rules()
OPENCOMPASS = Rules(**{field.name: True for field in fields(Rules)})


def rules_of(compat: Compat | None) -> Rules:
    """Return the rules that a dataset's `compat` asks for."""
    return OPENCOMPASS if compat == "opencompass" else NATIVE
