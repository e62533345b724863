"""AlpacaEval: an instruction and the baseline's output."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Name the output for what it is."""
    return {"instruction": row["instruction"], "baseline": row["output"], "subset": row["dataset"]}
