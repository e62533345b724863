"""MMLU: the CSV files have the options in columns and a letter, the hub has a list and a position."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """Bring both forms of a row to one."""
    texts = row["choices"] if "choices" in row else [row[letter] for letter in "ABCD"]
    return multiple_choice(row["question"], texts, row["answer"])
