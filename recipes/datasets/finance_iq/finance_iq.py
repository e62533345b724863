"""FinanceIQ: options in columns, the answer by letter."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """List the options."""
    return multiple_choice(row["Question"], [row[letter] for letter in "ABCD"], row["Answer"])
