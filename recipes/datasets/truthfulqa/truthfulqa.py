"""TruthfulQA: the CSV joins the false answers by semicolons, the hub has a list."""

from leaderflow.core.types import Row
from readers.options import mixed, multiple_choice


def prepare(row: Row) -> Row:
    """Offer the best answer among the false ones."""
    columns = {name.lower().replace(" ", "_"): value for name, value in row.items()}
    false = columns["incorrect_answers"]
    best, wrong = columns["best_answer"].strip(), false.split(";") if isinstance(false, str) else false
    texts = mixed([best, *(text.strip() for text in wrong if text.strip())])
    return multiple_choice(columns["question"], texts, texts.index(best), category=columns["category"])
