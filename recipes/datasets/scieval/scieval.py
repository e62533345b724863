"""SciEval."""

from leaderflow.core.types import Row


def choice(row: Row) -> Row | None:
    """Keep the questions with options, without the file's own closing line."""
    if row["type"] != "multiple-choice":
        return None
    return {
        "question": row["question"].strip().removesuffix("Answer:").rstrip(),
        "answer": row["answer"][0],
        "category": row["category"],
    }
