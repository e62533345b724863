"""MGSM: some answers have separators."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Take the separators out of the answer."""
    return {**row, "answer": row["answer"].replace(",", "").strip()}
