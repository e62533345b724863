"""TriviaQA: a question and every accepted name of its answer."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Keep the question and the accepted answers, as the hub has them or wrapped in `metadata`."""
    row = row.get("metadata", row)
    answer = row["answer"]
    return {"question": row["question"], "answers": list(dict.fromkeys([answer["value"], *answer["aliases"]]))}
