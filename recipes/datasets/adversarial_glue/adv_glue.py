"""Adversarial GLUE: six tasks told apart by their columns, labels as in GLUE."""

from leaderflow.core.types import Row
from readers.options import multiple_choice

YES_NO = ("Yes", "No")
THREE = ("It follows", "Neither", "It is contradicted")


def prepare(row: Row) -> Row:
    """Make the label a choice."""
    label = row["label"]
    if "premise" in row:
        return multiple_choice(f"Premise: {row['premise']}\nStatement: {row['hypothesis']}", THREE, label)
    if "question1" in row:
        question = f"1. {row['question1']}\n2. {row['question2']}\n\nDo both questions ask the same?"
        return multiple_choice(question, YES_NO, 1 - label)
    if "question" in row:
        question = f"Question: {row['question']}\nSentence: {row['sentence']}\n\nDoes the sentence hold the answer?"
        return multiple_choice(question, YES_NO, label)
    if "sentence1" in row:
        question = f"Premise: {row['sentence1']}\nStatement: {row['sentence2']}\n\nDoes the statement follow from the premise?"
        return multiple_choice(question, YES_NO, label)
    return multiple_choice(f"What is the mood of this review?\n{row['sentence']}", ["Negative", "Positive"], label)
