"""AGIEval: options carry their letters as ``(A)``."""

import re

from leaderflow.core.types import Row
from readers.options import multiple_choice


def prepare(row: Row) -> Row:
    """Take the letters off the options and put the passage before the question."""
    texts = [re.sub(r"^\s*\([A-Z]\)", "", text) for text in row["options"]]
    return multiple_choice("\n\n".join(filter(None, [row["passage"], row["question"]])), texts, row["label"])
