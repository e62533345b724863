"""Xiezhi: options as lines, the answer as text."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row | None:
    """Find the answer among the options."""
    texts = list(dict.fromkeys(text.strip() for text in row["options"].splitlines() if text.strip()))
    answer = row["answer"].strip()
    return multiple_choice(row["question"], texts, texts.index(answer)) if answer in texts else None
