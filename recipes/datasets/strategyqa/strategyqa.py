"""StrategyQA: yes or no."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """Make the truth value a choice between yes and no."""
    return multiple_choice(row["question"], ["Yes", "No"], 0 if row["answer"] else 1)
