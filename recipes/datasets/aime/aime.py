"""AIME: answers are integers from 0 to 999."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Bring the sources' names of the answer to one."""
    answer = row.get("expected_answer", row.get("answer"))
    return {"question": row["problem"], "answer": str(int(answer))}
