"""GPQA: the hub has the right answer and three wrong ones, the file a question with lettered options."""

from leaderflow.core.types import Row
from readers.options import mixed, multiple_choice


def prepare(row: Row) -> Row:
    """Put the options into the question."""
    if "Question" not in row:
        return {"question": row["question"], "answer": row["answer"]}
    right = row["Correct Answer"].strip()
    texts = mixed([right, *(row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3))])
    made = multiple_choice(row["Question"], texts, texts.index(right))
    return {"question": f"{made['question']}\n\n{made['options']}", "answer": made["answer"]}
