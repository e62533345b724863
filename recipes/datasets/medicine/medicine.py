"""Medical examination questions."""

from leaderflow.core.types import Row
from readers.options import multiple_choice

OPTIONS = ("opa", "opb", "opc", "opd")


def medqa(row: Row) -> Row:
    """Options by letter."""
    return multiple_choice(row["question"], list(row["options"].values()), row["answer_idx"])


def medmcqa(row: Row) -> Row:
    """Options in columns, the right one counted from 1."""
    return multiple_choice(row["question"], [row[name] for name in OPTIONS], row["cop"] - 1, subject=row["subject_name"])


def medbullets(row: Row) -> Row:
    """Options in columns, the right one by letter."""
    return multiple_choice(row["question"], [row[name] for name in OPTIONS], row["answer_idx"])


def pubmedqa(row: Row) -> Row:
    """A question about an abstract."""
    question = "\n\n".join([*row["CONTEXTS"], row["QUESTION"]])
    return multiple_choice(question, ["Yes", "No", "Maybe"], ["yes", "no", "maybe"].index(row["final_decision"]))
