"""LAMBADA: a passage without its last word."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Cut the last word off; punctuation around it is no part of it."""
    passage, _, word = row["text"].rstrip(" .!?\"'").rpartition(" ")
    return {"passage": passage, "word": word.strip(" .,;:!?\"'“”‘’")}
