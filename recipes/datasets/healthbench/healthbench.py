"""HealthBench."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Add the conversation as the judge reads it."""
    return {**row, "question": "\n\n".join(f"{message['role']}: {message['content']}" for message in row["prompt"])}
