"""CommonSenseQA: the authors' files nest stem and choices in `question`, the hub has them apart."""

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """Bring both forms of a row to one."""
    nested = row["question"] if isinstance(row["question"], dict) else None
    stem = nested["stem"] if nested else row["question"]
    texts = [choice["text"] for choice in nested["choices"]] if nested else row["choices"]["text"]
    return multiple_choice(stem, texts, row["answerKey"])
