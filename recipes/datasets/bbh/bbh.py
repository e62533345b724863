"""BIG-Bench Hard."""

from leaderflow.core.types import Row


def choice(row: Row) -> Row:
    """The target is a letter in brackets."""
    return {"question": row["input"], "answer": row["target"].strip("() ")}


def free(row: Row) -> Row:
    """The target is the answer as it must be written."""
    return {"question": row["input"], "answer": row["target"].strip()}
