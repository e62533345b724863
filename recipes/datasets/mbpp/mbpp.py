"""MBPP: tasks 11 to 510 are the test set, whatever else a file holds."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row | None:
    """Keep the test tasks, and write their assertions as the prompt shows them."""
    if not 11 <= row["task_id"] <= 510:
        return None
    return {**row, "tests": "\n".join(row["test_list"])}
