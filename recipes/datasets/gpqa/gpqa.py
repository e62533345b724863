"""GPQA: the hub has the right answer and three wrong ones, the file a question with lettered options."""

import re

from leaderflow.core.types import Row
from readers.options import mixed, multiple_choice

OPTIONS = re.compile(r"(.*)\n\s*A\)(.*?)\n\s*B\)(.*?)\n\s*C\)(.*?)\n\s*D\)(.*)", re.DOTALL)


def prepare(row: Row) -> Row:
    """Bring both forms to question and options.

    Raises:
        ValueError: a question of the file has no four options.
    """
    if "Question" in row:
        right = row["Correct Answer"].strip()
        texts = mixed([right, *(row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3))])
        return multiple_choice(row["Question"], texts, texts.index(right))
    found = OPTIONS.fullmatch(row["question"])
    if found is None:
        raise ValueError("the question has no options A) to D)")
    question, *texts = found.groups()
    return multiple_choice(question, texts, row["answer"])
