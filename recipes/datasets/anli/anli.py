"""Adversarial NLI."""

from leaderflow.core.types import Row
from readers.options import multiple_choice

LABELS = ("entailment", "neutral", "contradiction")
TEXTS = ("The statement follows", "Neither", "The statement is contradicted")


def prepare(row: Row) -> Row:
    """Make the label a choice."""
    return multiple_choice(f"Premise: {row['premise']}\nStatement: {row['hypothesis']}", TEXTS, LABELS.index(row["label"]))
