"""XCOPA: the more plausible cause or effect of a premise."""

from leaderflow.core.types import Row
from readers.options import multiple_choice

ASKED = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}


def prepare(row: Row) -> Row:
    """Ask for the cause or the effect."""
    return multiple_choice(f"{row['premise']}\n{ASKED[row['question']]}", [row["choice1"], row["choice2"]], row["label"])
