"""AGIEval: options carry their letters as ``(A)``."""

import re

from leaderflow.core.types import Row
from readers.options import multiple_choice

ENGLISH = "Exactly one option is right. Finish your reply with a line `Answer: X`, where X is its letter."
CHINESE = "以上选项中只有一个正确。请在回复的最后单独写一行“答案：X”，X 为正确选项的字母。"


def prepare(row: Row) -> Row:
    """Take the letters off the options, put the passage before the question, and give the instruction in their language."""
    texts = [re.sub(r"^\s*\([A-Z]\)", "", text) for text in row["options"]]
    question = "\n\n".join(filter(None, [row["passage"], row["question"]]))
    instruction = CHINESE if re.search(r"[\u4e00-\u9fff]", question + "".join(texts)) else ENGLISH
    return multiple_choice(question, texts, row["label"], instruction=instruction)
