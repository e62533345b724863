"""OpenBookQA: the authors' files nest stem and choices in `question`, the hub has them apart."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """Bring both forms of a row to one."""
    if "question" in row:
        question = row["question"]
        return multiple_choice(question["stem"], [choice["text"] for choice in question["choices"]], row["answerKey"])
    return multiple_choice(row["question_stem"], row["choices"]["text"], row["answerKey"])
