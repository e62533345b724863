"""MuSR: a story and the first of its questions."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """Put the story before the question."""
    asked = row["questions"][0]
    return multiple_choice(f"{row['context']}\n\n{asked['question']}", asked["choices"], asked["answer"])
