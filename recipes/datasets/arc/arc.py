"""ARC: options come as two parallel lists, labelled A-E or 1-5."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def lettered(row: Row) -> Row:
    """Give every option a letter, whatever its label was."""
    choices = row["choices"]
    return multiple_choice(row["question"], choices["text"], choices["label"].index(row["answerKey"]), id=row["id"])


def four_options(row: Row) -> Row | None:
    """Leave out the rows that have not exactly four options."""
    return lettered(row) if len(row["choices"]["text"]) == 4 else None
