"""SciEval."""

from leaderflow.core.types import Row


def choice(row: Row) -> Row | None:
    """Keep the questions with options."""
    if row["type"] != "multiple-choice":
        return None
    return {"question": row["question"], "answer": row["answer"][0], "category": row["category"]}
