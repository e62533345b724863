"""APPS and TACO: programs by standard input and output, or functions with given starter code."""

import json

from leaderflow.core.types import Row


def prepare(row: Row) -> Row | None:
    """Say how the code will be called, and leave out rows without any test case."""
    if not (row["input_output"] and json.loads(row["input_output"])["inputs"]):
        return None
    form = "The program reads standard input and writes its answer to standard output."
    if starter := row["starter_code"]:
        form = f"Complete this code, and keep its names:\n\n```python\n{starter.strip()}\n```\n"
    return {**row, "form": form}
